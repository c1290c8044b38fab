package content

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

// ingestWish holds the flags.
type ingestWish struct {
	kb             string
	create         bool
	selection      selection
	noGitignore    bool
	given          []string // key=value
	metadata       map[string]json.RawMessage
	prune, dryRun  bool
	yes            bool // an empty folder is meant
	inJSON         bool
	paths, streams []string // files and folders; NDJSON
}

func ingestCommand(p *cli.Program) *cobra.Command {
	var wish ingestWish
	cmd := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Write chunks, or files to be split into chunks",
		Long: `Ingest writes what the paths hold:
  -                   chunks from standard input, NDJSON with one chunk a line
  *.ndjson, *.jsonl   such a file
  anything else       a file, or a folder with all below it that no .gitignore excludes:
                      each file is a document, and one that has not changed is left alone
Chunks and documents of the same id are replaced, so a run that broke off is repeated and goes
on. With --prune documents whose file is gone from the folder are deleted, if an earlier ingest
of this folder brought them; with --prefix it is the prefix that tells, wherever the folder is.
The exit code is 1 when some of it was skipped or failed, which a list names.`,
		Example: `  hybridge ingest --kb manuals --create docs/
  hybridge ingest --kb manuals --prefix handbook/ --exclude 'drafts/**' --metadata lang=en --prune --dry-run docs/
  zcat chunks.ndjson.gz | hybridge ingest --kb manuals -`,
	}
	wish.add(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := wish.check(cmd.Flags(), args); err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error { return ingestChunks(ctx, p, c, &wish) })
	}
	return cmd
}

// forFiles are the flags that mean nothing for NDJSON, whose chunks say all that themselves.
var forFiles = []string{"include", "exclude", "no-gitignore", "prefix", "metadata", "prune", "yes"}

func (w *ingestWish) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.kb, "kb", "", "Knowledge base to write to (required)")
	flags.BoolVar(&w.create, "create", false, "Create the knowledge base if it does not exist")
	flags.StringArrayVar(&w.selection.include, "include", nil,
		"Only files that match a glob such as *.md or guides/**; may be given several times")
	flags.StringArrayVar(&w.selection.exclude, "exclude", nil, "Skip files that match a glob; may be given several times")
	flags.BoolVar(&w.noGitignore, "no-gitignore", false, "Include files that a .gitignore excludes")
	flags.StringVar(&w.selection.prefix, "prefix", "", "Prefix for the IDs of documents, such as handbook/")
	flags.StringArrayVar(&w.given, "metadata", nil,
		"Metadata of every chunk, such as year=2026; numbers, true, false and \"quoted text\" as in JSON, "+
			"anything else is text; "+
			"may be given several times")
	flags.BoolVar(&w.prune, "prune", false, "Delete documents whose file is gone from the folder")
	flags.BoolVar(&w.dryRun, "dry-run", false, "Show what would be added, replaced, kept and removed; write nothing")
	flags.BoolVar(&w.yes, "yes", false,
		"With --prune, accept a folder without files: everything ingested from it is deleted")
	flags.BoolVar(&w.inJSON, "json", false, "Print JSON")
}

func (w *ingestWish) check(flags *pflag.FlagSet, args []string) (err error) {
	if w.kb == "" {
		return cli.MissingFlag("--kb", "the id of a knowledge base")
	}
	for _, path := range args {
		if path == "-" || isNDJSON(path) {
			w.streams = append(w.streams, path)
			continue
		}
		if info, err := os.Stat(path); w.prune && err == nil && !info.IsDir() {
			return fault.Invalid("--prune", path, "with folders only: a file alone says nothing of others")
		}
		w.paths = append(w.paths, path)
	}
	for _, name := range forFiles {
		if flags.Changed(name) && len(w.paths) == 0 {
			return fault.Invalid("--"+name, flags.Lookup(name).Value.String(), "omitted: it is for files, not for NDJSON")
		}
	}
	w.selection.tracked = !w.noGitignore
	if w.metadata, err = parseMetadata(w.given); err != nil {
		return err
	}
	return w.selection.check()
}

// parseMetadata reads key=value.
func parseMetadata(given []string) (map[string]json.RawMessage, error) {
	metadata := map[string]json.RawMessage{}
	for _, text := range given {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, fault.Invalid("--metadata", text, "key=value")
		}
		if metadata[key] != nil {
			return nil, fault.Invalid("--metadata", key, "given once")
		}
		metadata[key] = json.RawMessage(value)
		if !isScalar(value) {
			metadata[key], _ = json.Marshal(value) // a string always encodes
		}
	}
	return metadata, nil
}

// isScalar reports whether JSON reads a number, a boolean or a quoted text.
func isScalar(text string) bool {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return false
	}
	switch value.(type) {
	case float64, bool, string:
		return true
	default:
		return false
	}
}

func ingestChunks(ctx context.Context, p *cli.Program, c *cli.Client, wish *ingestWish) error {
	u := &upload{program: p, client: c, wish: wish, quiet: wish.inJSON}
	u.summary.KnowledgeBase, u.summary.Failures = wish.kb, []failure{}
	files, err := wish.selection.find(wish.paths)
	if err != nil {
		return err
	}
	if err := u.checkPrune(files); err != nil {
		return err
	}
	if wish.dryRun {
		return u.dryRun(ctx, files)
	}
	if u.kb, err = findOrCreate(ctx, c, wish.kb, wish.create); err != nil {
		return err
	}
	return u.report(u.all(ctx, files), wish.inJSON)
}

// findOrCreate returns the knowledge base, which it creates if asked to.
func findOrCreate(ctx context.Context, c *cli.Client, id string, create bool) (engine.KnowledgeBase, error) {
	var kb engine.KnowledgeBase
	err := c.Get(ctx, cli.BasePath(id), &kb)
	if !fault.Is(err, fault.NotFound) || !create {
		return kb, err
	}
	err = c.Post(ctx, "/v1/knowledge-bases", catalog.Spec{ID: id}, &kb)
	return kb, err
}

// upload is one run of the command.
type upload struct {
	program *cli.Program
	client  *cli.Client
	kb      engine.KnowledgeBase
	wish    *ingestWish       // nil: of an import
	quiet   bool              // failures are only in the summary
	preview *preview          // nil: it is no dry run
	known   map[string]bool   // with preview: documents that are there
	formats map[string]string // of files, as the gateway has them

	summary UploadSummary
}

// UploadSummary is the output of --json.
type UploadSummary struct {
	KnowledgeBase string    `json:"knowledge_base"`
	Chunks        Tally     `json:"chunks"`
	Files         FileTally `json:"files"`
	Pruned        []string  `json:"pruned,omitempty"` // documents that are deleted
	Skipped       []failure `json:"skipped,omitempty"`
	Failures      []failure `json:"failures"`
}

// Tally counts chunks by outcome.
type Tally struct {
	Created int `json:"created"`
	Updated int `json:"updated"`
	Failed  int `json:"failed"`
}

// FileTally counts files by outcome.
type FileTally struct {
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
func (u *upload) all(ctx context.Context, files *foundFiles) error {
	for _, path := range u.wish.streams {
		if err := u.lines(ctx, path); err != nil {
			return err
		}
	}
	if err := u.files(ctx, files); err != nil || !u.wish.prune {
		return err
	}
	gone, err := u.gone(ctx, files)
	if err != nil {
		return err
	}
	return u.prune(ctx, gone)
}

func isNDJSON(path string) bool {
	return slices.Contains([]string{".ndjson", ".jsonl"}, strings.ToLower(filepath.Ext(path)))
}

// line writes a failure for people.
func (f *failure) where() string {
	if f.ID != "" {
		return fmt.Sprintf("%s (ID %q)", cli.Plain(f.Source), cli.Plain(f.ID))
	}
	return cli.Plain(f.Source)
}

// list names on standard error the files that were not written.
func (u *upload) list() {
	for i := range u.summary.Skipped {
		f := &u.summary.Skipped[i]
		u.program.Note("%s: skipped, %s", f.where(), locale.Text(cli.Plain(f.Detail)))
	}
	for i := range u.summary.Failures {
		f := &u.summary.Failures[i]
		u.program.Note("%s: %s", f.where(), locale.Text(cli.Plain(f.Detail)))
	}
}

// report prints the totals, even if the run ended with err.
func (u *upload) report(err error, inJSON bool) error {
	s := &u.summary
	if inJSON {
		if printed := cli.PrintJSON(u.program.Stdout, s); printed != nil {
			return printed
		}
	} else {
		u.list()
		out := &cli.Printer{W: u.program.Stdout}
		out.Line("chunks: %d created, %d updated, %d failed", s.Chunks.Created, s.Chunks.Updated, s.Chunks.Failed)
		if f := s.Files; f != (FileTally{}) {
			out.Line("files: %d written, %d unchanged, %d skipped, %d failed", f.Written, f.Unchanged, f.Skipped, f.Failed)
		}
		for _, id := range s.Pruned {
			out.Line("deleted %s", cli.Plain(id))
		}
		if out.Err != nil {
			return out.Err
		}
	}
	if err == nil && s.Chunks.Failed+s.Files.Failed+s.Files.Skipped > 0 {
		return cli.ErrReported
	}
	return err
}
