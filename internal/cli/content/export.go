package content

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/synonyms"
)

// An export is JSON Lines: an exportHead, the chunks by id as POST of documents takes them,
// and an exportEnd, without which it is not whole.

// exportHead is the first line: all that is needed to create the knowledge base again.
type exportHead struct {
	Format        int                  `json:"hybridge_export"`
	KnowledgeBase engine.KnowledgeBase `json:"knowledge_base"`
	Vectors       bool                 `json:"vectors"`            // chunks have theirs
	Synonyms      []string             `json:"synonyms,omitempty"` // the sets that hold for it; their texts are elsewhere
	Rules         []rules.Rule         `json:"rules,omitempty"`
}

const exportFormat = 1

// exportEnd is the last line.
type exportEnd struct {
	End *exportCount `json:"end"`
}

type exportCount struct {
	Chunks int `json:"chunks"`
}

// Chunks and ends are recognized by their beginning.
var (
	chunkPrefix = []byte(`{"id":`)
	endPrefix   = []byte(`{"end":`)
)

func kbExportCommand(p *cli.Program) *cobra.Command {
	var without, overwrite bool
	cmd := &cobra.Command{
		Use:   "export KB FILE",
		Short: "Export a knowledge base with its vectors to a file that any engine can import",
		Long: "Writes JSON Lines: a description of the knowledge base, its chunks in the order of their ids, and a last\n" +
			"line that counts them. An export that broke off goes on after its last whole line when it is repeated.",
		Example: `  hybridge kb export manuals manuals.jsonl
  hybridge kb export manuals - | zstd > manuals.jsonl.zst`,
	}
	cmd.Flags().BoolVar(&without, "without-vectors", false, "Omit vectors; an import then makes new ones")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "Replace the contents of the file")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		head, err := exportHeadOf(ctx, c, args[0], !without)
		if err != nil {
			return err
		}
		e := &export{program: p, client: c, head: head, path: args[1]}
		return e.run(ctx, overwrite)
	})
}

func exportHeadOf(ctx context.Context, c *cli.Client, id string, vectors bool) (*exportHead, error) {
	head := &exportHead{Format: exportFormat}
	if err := c.Get(ctx, cli.BasePath(id), &head.KnowledgeBase); err != nil {
		return nil, err
	}
	head.Vectors = vectors && head.KnowledgeBase.Dimensions > 0
	var known versioned.SynonymSets
	if err := c.Get(ctx, "/v1/synonyms", &known); err != nil {
		return nil, err
	}
	for i := range known.Sets {
		if set := known.Sets[i].Set; set == id || set == synonyms.Global {
			head.Synonyms = append(head.Synonyms, set)
		}
	}
	var ruled versioned.RuleSet
	err := c.Get(ctx, "/v1/rules/"+url.PathEscape(id), &ruled)
	if fault.Is(err, fault.Forbidden) { // a key bound to a filter exports the chunks that it may see
		err = nil
	}
	head.Rules = ruled.Rules
	return head, err
}

// export is one run of the command.
type export struct {
	program *cli.Program
	client  *cli.Client
	head    *exportHead
	path    string // "-": standard output

	begun  bool   // the file has the first line
	after  string // the id of the last chunk written
	chunks int
}

func (e *export) run(ctx context.Context, overwrite bool) (err error) {
	out := e.program.Stdout
	if e.path != "-" {
		file, err := os.OpenFile(filepath.Clean(e.path), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "FILE is %q; it must be a file that can be written", e.path)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err := e.resume(file, overwrite); err != nil {
			return err
		}
		out = file
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	err = e.write(ctx, buffered)
	if flushed := buffered.Flush(); flushed != nil {
		return errors.Join(err, fault.Wrap(fault.Unavailable, flushed, "write %s", e.path))
	}
	if err != nil {
		return e.brokeOff(err)
	}
	if file, ok := out.(*os.File); ok && e.path != "-" {
		if err := file.Sync(); err != nil {
			return fault.Wrap(fault.Unavailable, err, "write %s", e.path)
		}
	}
	e.program.Note("exported %s: %s", e.head.KnowledgeBase.ID, cli.Counted(e.chunks, "chunk"))
	return nil
}

// brokeOff advises on an incomplete export.
func (e *export) brokeOff(err error) error {
	if e.path == "-" || e.chunks == 0 {
		return err
	}
	return fault.Wrap(fault.KindOf(err), err, "%s has %s so far; repeat the command and it goes on from there",
		e.path, cli.Counted(e.chunks, "chunk"))
}

// resume reads the output of an earlier run and cuts off an incomplete line.
func (e *export) resume(file *os.File, overwrite bool) error {
	whole := int64(0)
	if !overwrite {
		lines := bufio.NewReaderSize(file, 1<<20)
		for number := 1; ; number++ {
			line, err := lines.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = e.resumeLine(number, line)
			}
			if err != nil {
				return err
			}
			whole += int64(len(line))
		}
	}
	if err := file.Truncate(whole); err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "cut off %s", e.path)
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "write %s", e.path)
	}
	return nil
}

func (e *export) resumeLine(number int, line []byte) error {
	switch {
	case number == 1:
		head, err := readHead(e.path, line)
		if err != nil {
			return err
		}
		there, here := &head.KnowledgeBase, &e.head.KnowledgeBase
		if there.Ref != here.Ref || !there.CreatedAt.Equal(here.CreatedAt) || head.Vectors != e.head.Vectors {
			return fault.New(fault.Conflict, "%s is an export of another knowledge base or with other options "+
				"(%s, made %s, vectors: %t); name another file, or --overwrite", e.path, there.ID, there.CreatedAt, head.Vectors)
		}
		e.begun = true
		return nil
	case bytes.HasPrefix(line, endPrefix):
		return fault.New(fault.Conflict, "%s is a whole export already; name another file, or --overwrite", e.path)
	default:
		var chunk struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &chunk); err != nil || chunk.ID == "" {
			return fault.New(fault.InvalidArgument, "%s: line %d is no chunk; name another file, or --overwrite", e.path, number)
		}
		e.after = chunk.ID
		e.chunks++
		return nil
	}
}

// write writes the lines that are not in the file yet.
func (e *export) write(ctx context.Context, out io.Writer) error {
	if !e.begun {
		if err := writeLine(out, e.head); err != nil {
			return err
		}
	}
	path := fmt.Sprintf("%s/chunks?vectors=%t&after=%s",
		cli.BasePath(e.head.KnowledgeBase.ID), e.head.Vectors, url.QueryEscape(e.after))
	answer, err := e.client.Stream(ctx, cli.Call{Method: "GET", Path: path})
	if err != nil {
		return err
	}
	progress := cli.NewProgress(e.program.Stderr, "chunks", -1, cli.InPieces)
	defer progress.Finish()
	err = e.copyChunks(ctx, out, answer, progress)
	if err := errors.Join(err, answer.Close()); err != nil {
		return err
	}
	return writeLine(out, exportEnd{&exportCount{e.chunks}})
}

// copyChunks copies whole lines of chunks; any other line is the reason why there are no more.
func (e *export) copyChunks(ctx context.Context, out io.Writer, answer io.Reader, progress *cli.Progress) error {
	lines := bufio.NewReaderSize(answer, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case err != nil:
			return e.client.TransportFault(ctx, err)
		case !bytes.HasPrefix(line, chunkPrefix):
			var p endpoint.Problem
			if err := e.client.Decode(line, &p); err != nil {
				return err
			}
			return &fault.Error{Kind: fault.Kind(p.Code), Field: p.Field, Detail: p.Detail}
		}
		if _, err := out.Write(line); err != nil {
			return fault.Wrap(fault.Unavailable, err, "write %s", e.path)
		}
		e.chunks++
		progress.Add(1)
	}
}

func writeLine(out io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "write the export")
	}
	return nil
}

// readHead reads the first line of an export.
func readHead(path string, line []byte) (*exportHead, error) {
	var head exportHead
	if err := json.Unmarshal(line, &head); err != nil || head.Format == 0 {
		return nil, fault.New(fault.InvalidArgument, "%s is no export: its first line describes no knowledge base "+
			"(hybridge ingest takes bare chunks)", path)
	}
	if head.Format != exportFormat {
		return nil, fault.New(fault.Unsupported, "%s has the format %d; this version reads %d",
			path, head.Format, exportFormat)
	}
	return &head, nil
}
