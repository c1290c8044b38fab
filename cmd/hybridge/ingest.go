package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func (p *program) ingestCommand() *cobra.Command {
	var kb string
	var create bool
	cmd := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Write chunks, or files that are split into chunks",
		Long: `Ingest writes what the paths hold:
  -                   chunks from standard input, NDJSON with one chunk a line
  *.ndjson, *.jsonl   such a file
  anything else       a Markdown, text or HTML file, or a folder with all below it:
                      each file is a document, and one that has not changed is left alone
Chunks and documents of the same id are replaced, so a run that broke off is repeated.
The exit code is 1 when some of it could not be written.`,
		Example: `  hybridge ingest --kb manuals --create docs/
  zcat chunks.ndjson.gz | hybridge ingest --kb manuals -`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&kb, "kb", "", "Knowledge base to write to (required)")
	cmd.Flags().BoolVar(&create, "create", false, "Create the knowledge base when it does not exist")
	inJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if kb == "" {
			return fault.Invalid("--kb", kb, "the id of a knowledge base")
		}
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			base, err := findOrCreate(ctx, c, kb, create)
			if err != nil {
				return err
			}
			u := &upload{program: p, client: c, kb: base, quiet: *inJSON}
			err = u.all(ctx, args)
			return u.report(err, *inJSON)
		})
	}
	return cmd
}

// findOrCreate returns the knowledge base, which it creates if asked to.
func findOrCreate(ctx context.Context, c *client, id string, create bool) (engine.KnowledgeBase, error) {
	var kb engine.KnowledgeBase
	err := c.get(ctx, basePath(id), &kb)
	if !fault.Is(err, fault.NotFound) || !create {
		return kb, err
	}
	do, err := postJSON("/v1/knowledge-bases", catalog.Spec{ID: id})
	if err != nil {
		return kb, err
	}
	text, err := c.raw(ctx, do)
	if err != nil {
		return kb, err
	}
	return kb, c.decode(text, &kb)
}

// upload is one run of the command.
type upload struct {
	program *program
	client  *client
	kb      engine.KnowledgeBase
	quiet   bool // failures are only in the summary

	summary uploadSummary
}

// uploadSummary is what --json prints.
type uploadSummary struct {
	KnowledgeBase string    `json:"knowledge_base"`
	Chunks        tally     `json:"chunks"`
	Files         fileTally `json:"files"`
	Failures      []failure `json:"failures"`
}

type tally struct {
	Created int `json:"created"`
	Updated int `json:"updated"`
	Failed  int `json:"failed"`
}

type fileTally struct {
	Written   int `json:"written"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Failed    int `json:"failed"`
}

// failure is a line or a file that could not be written.
type failure struct {
	Source string `json:"source"` // file, and line of NDJSON
	ID     string `json:"id,omitempty"`
	Code   string `json:"code"`
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

// all writes NDJSON first, in the given order, and then all other files.
func (u *upload) all(ctx context.Context, paths []string) error {
	u.summary.KnowledgeBase, u.summary.Failures = u.kb.ID, []failure{}
	var files []string
	for _, path := range paths {
		if path != "-" && !isNDJSON(path) {
			files = append(files, path)
			continue
		}
		if err := u.lines(ctx, path); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	return u.files(ctx, files)
}

func isNDJSON(path string) bool {
	return slices.Contains([]string{".ndjson", ".jsonl"}, strings.ToLower(filepath.Ext(path)))
}

// fail records a failure and prints it at once.
func (u *upload) fail(f failure) {
	u.summary.Failures = append(u.summary.Failures, f)
	if u.quiet {
		return
	}
	id := ""
	if f.ID != "" {
		id = fmt.Sprintf(" (id %q)", plain(f.ID))
	}
	fmt.Fprintf(u.program.stderr, "%s%s: %s\n", plain(f.Source), id, plain(f.Detail))
}

// report prints what was done, even if the run ended with err.
func (u *upload) report(err error, inJSON bool) error {
	s := &u.summary
	if inJSON {
		if printed := printJSON(u.program.stdout, s); printed != nil {
			return printed
		}
	} else {
		out := &printer{w: u.program.stdout}
		out.line("chunks: %d created, %d updated, %d failed", s.Chunks.Created, s.Chunks.Updated, s.Chunks.Failed)
		if f := s.Files; f != (fileTally{}) {
			out.line("files: %d written, %d unchanged, %d skipped, %d failed", f.Written, f.Unchanged, f.Skipped, f.Failed)
		}
		if out.err != nil {
			return out.err
		}
	}
	if err == nil && s.Chunks.Failed+s.Files.Failed > 0 {
		return errReported
	}
	return err
}
