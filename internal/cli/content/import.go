package content

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// importWish holds the flags of an import; empty: as in the export.
type importWish struct {
	kb, engine, analyzer, bm25 string
	damaged                    bool // only the chunks that are damaged
}

func kbImportCommand(p *cli.Program) *cobra.Command {
	var wish importWish
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Create a knowledge base from an export or an Elasticsearch index, on any engine",
		Long: "Creates the knowledge base that the first line describes, unless it exists, and writes the chunks. They\n" +
			"keep the vectors that they bring; of an export without vectors the gateway makes new ones. An import that broke\n" +
			"off goes on where it was when it is repeated: FILE.import remembers it until all is done. With --damaged it\n" +
			"writes only what kb check finds damaged, of an export of a backup.\n\n" +
			"With --from-elasticsearch it reads any index instead, as it is at that moment: --map says which fields become\n" +
			"what, all others become metadata. A vector field keeps its vectors, otherwise the gateway makes them.",
		Example: `  hybridge kb import manuals.jsonl --engine postgres
  hybridge kb import manuals.jsonl --damaged
  zstdcat manuals.jsonl.zst | hybridge kb import --kb copy -
  hybridge kb import --kb manuals --from-elasticsearch http://127.0.0.1:9200 --index articles \
    --map content=body --map title=headline --map vector=embedding`,
	}
	var foreign foreignWish
	foreign.add(cmd.Flags())
	cmd.Args = foreign.args
	cmd.Flags().StringVar(&wish.kb, "kb", "", "ID of the knowledge base (default: that of the export)")
	cmd.Flags().StringVar(&wish.engine, "engine", "", "embedded, elasticsearch or postgres (default: the gateway's)")
	cmd.Flags().StringVar(&wish.analyzer, "analyzer", "", "Analyzer of texts (default: that of the export)")
	cmd.Flags().StringVar(&wish.bm25, "bm25", "", "BM25 formula of the text legs (default: that of the export)")
	cmd.Flags().BoolVar(&wish.damaged, "damaged", false, "Only write chunks that are damaged in the knowledge base")
	inJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if foreign.url != "" {
			return importIndex(p, cmd, &wish, &foreign, *inJSON)
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			i := &imported{upload: upload{program: p, client: c, quiet: *inJSON}, path: args[0]}
			i.summary.Failures = []failure{}
			err := i.run(ctx, wish)
			if i.kb.ID == "" { // nothing was begun
				return err
			}
			return i.report(err, *inJSON)
		})
	}
	return cmd
}

// imported is one run of the command.
type imported struct {
	upload
	path string
	head *exportHead
	at   importedTo
	only map[string]bool // ids of the chunks that are written; nil: all
}

// importedTo is the content of FILE.import. CreatedAt identifies the knowledge base:
// one deleted and created again is filled from the start.
type importedTo struct {
	KnowledgeBase string    `json:"knowledge_base"`
	CreatedAt     time.Time `json:"created_at"`
	Offset        int64     `json:"offset"` // bytes that are done
	Lines         int       `json:"lines"`
	Chunks        int       `json:"chunks"`
}

const (
	importLines = 1000 // at most in a request
	importBytes = 4 << 20
)

func (i *imported) run(ctx context.Context, wish importWish) (err error) {
	source, size, err := i.open(i.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	progress := cli.NewProgress(i.program.Stderr, "uploading", size, cli.InBytes)
	defer progress.Finish()
	lines := bufio.NewReaderSize(progress.Reader(source), 1<<20)
	first, err := lines.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fault.Wrap(fault.InvalidArgument, err, "read %s", i.path)
	}
	if i.head, err = readHead(i.path, first); err != nil {
		return err
	}
	if err := i.findOrCreate(ctx, wish); err != nil {
		return err
	}
	if wish.damaged {
		if err := i.findDamaged(ctx); err != nil {
			return err
		}
	}
	i.summary.KnowledgeBase = i.kb.ID
	i.at = importedTo{i.kb.ID, i.kb.CreatedAt, int64(len(first)), 1, 0}
	if file, ok := source.(*os.File); ok && i.resumable() {
		if err := i.resume(file, size); err != nil {
			return err
		}
		lines.Reset(progress.Reader(file))
		progress.Skip(i.at.Offset - int64(len(first)))
	}
	return i.parts(ctx, lines)
}

// findOrCreate finds the knowledge base, which must fit, or creates it.
func (i *imported) findOrCreate(ctx context.Context, wish importWish) error {
	from := &i.head.KnowledgeBase
	id := cmp.Or(wish.kb, from.ID)
	err := i.client.Get(ctx, cli.BasePath(id), &i.kb)
	if err == nil {
		return i.checkFits()
	}
	if !fault.Is(err, fault.NotFound) || wish.damaged {
		return err
	}
	spec := catalog.Spec{
		ID: id, Name: from.Name, Engine: wish.engine, Kind: from.Kind, VectorFields: from.VectorFields,
		Fields: from.Boosts, Analyzer: cmp.Or(wish.analyzer, from.Analyzer), BM25: cmp.Or(wish.bm25, from.BM25),
	}
	if i.head.Vectors || from.Dimensions == 0 {
		spec.Dimensions, spec.EmbeddingModel = &from.Dimensions, from.EmbeddingModel
	}
	same, err := i.sameEngine(ctx, wish.engine)
	if err != nil {
		return err
	}
	if same {
		spec.VectorIndex, spec.Shared = from.VectorIndex, from.Shared
		if spec.Analyzer == from.Analyzer {
			spec.SearchAnalyzer = from.SearchAnalyzer
		}
	}
	if err := i.client.Post(ctx, "/v1/knowledge-bases", spec, &i.kb); err != nil {
		return err
	}
	if len(i.head.Synonyms) > 0 {
		i.program.Note("the synonyms of %s are no part of the export; hybridge synonyms moves them",
			strings.Join(i.head.Synonyms, ", "))
	}
	if len(i.head.Rules) == 0 {
		return nil
	}
	ruled := map[string]any{"rules": i.head.Rules, "comment": "imported", "base_version": 0}
	return i.client.Put(ctx, "/v1/rules/"+url.PathEscape(i.kb.ID), ruled)
}

// findDamaged asks which chunks are to be written.
func (i *imported) findDamaged(ctx context.Context) error {
	report, err := check(ctx, i.client, i.kb.ID, gateway.Check{})
	if err != nil {
		return err
	}
	i.only = map[string]bool{}
	for _, found := range report.Integrity {
		for _, id := range found.Damaged.First {
			i.only[id] = true
		}
		if named := len(found.Damaged.First); found.Damaged.Count > named {
			i.program.Note("of %s damaged on %s the first %d are written; repeat it for others",
				cli.Counted(found.Damaged.Count, "chunk"), found.Engine, named)
		}
	}
	return nil
}

// wanted reports whether a line is a chunk that is to be written.
func (i *imported) wanted(line []byte) bool {
	if i.only == nil {
		return true
	}
	var chunk struct {
		ID string `json:"id"`
	}
	return json.Unmarshal(line, &chunk) == nil && i.only[chunk.ID]
}

// sameEngine says whether the knowledge base will live on the engine that it was exported
// from, whose own settings then hold.
func (i *imported) sameEngine(ctx context.Context, wanted string) (bool, error) {
	from := i.head.KnowledgeBase.Engine
	if wanted != "" {
		return wanted == from, nil
	}
	var list gateway.KnowledgeBases
	if err := i.client.Get(ctx, "/v1/knowledge-bases", &list); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Engines, func(c catalog.Choice) bool { return c.Default && c.Name == from }), nil
}

// checkFits refuses an existing knowledge base that cannot have the chunks.
func (i *imported) checkFits() error {
	from := &i.head.KnowledgeBase
	differs := func(what string, has, wanted any) error {
		return fault.New(fault.Conflict, "knowledge base %q exists and its %s is %s; the export's is %s: "+
			"import it under another id (--kb)", i.kb.ID, what, fault.Show(has), fault.Show(wanted))
	}
	switch {
	case i.kb.Kind != from.Kind:
		return differs("kind", i.kb.Kind, from.Kind)
	case !i.head.Vectors:
		return nil
	case i.kb.Dimensions != from.Dimensions:
		return differs("number of dimensions", i.kb.Dimensions, from.Dimensions)
	case i.kb.EmbeddingModel != from.EmbeddingModel:
		return differs("embedding model", i.kb.EmbeddingModel, from.EmbeddingModel)
	}
	for _, v := range from.VectorFields {
		if !slices.ContainsFunc(i.kb.VectorFields, func(has engine.VectorField) bool { return has.Name == v.Name }) {
			return differs("list of vector fields", i.kb.VectorFields, from.VectorFields)
		}
	}
	return nil
}

// notePath is the file that remembers how far the import is.
func (i *imported) notePath() string { return i.path + ".import" }

// resumable says whether it is remembered how far the import is: not of what cannot be read
// again, nor where another import of the whole file may be under way.
func (i *imported) resumable() bool { return i.path != "-" && i.only == nil }

// resume goes to where an earlier run stopped, if that was of the same file and knowledge base.
func (i *imported) resume(file *os.File, size int64) error {
	text, err := os.ReadFile(i.notePath())
	if err == nil {
		var at importedTo
		if json.Unmarshal(text, &at) == nil && at.KnowledgeBase == i.at.KnowledgeBase &&
			at.CreatedAt.Equal(i.at.CreatedAt) && at.Offset >= i.at.Offset && at.Offset <= size {
			i.at = at
		}
	}
	if _, err := file.Seek(i.at.Offset, io.SeekStart); err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read %s", i.path)
	}
	return nil
}

// note remembers how far the import is.
func (i *imported) note() error {
	if !i.resumable() {
		return nil
	}
	return remember(i.notePath(), i.at)
}

// remember writes how far an import is. It is never half written: a torn one would be ignored,
// and the import would only begin anew.
func remember(path string, at any) error {
	text, err := json.Marshal(at)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "remember in %s how far the import is", path)
	}
	return nil
}

// parts writes the chunks a part at a time, so that each is either done or repeated.
func (i *imported) parts(ctx context.Context, lines *bufio.Reader) error {
	for {
		part, err := i.readPart(lines)
		if err != nil {
			return err
		}
		if part.body.Len() > 0 || part.last {
			if err := i.write(ctx, part); err != nil {
				return err
			}
		}
		i.at.Offset += part.bytes
		i.at.Lines += part.lines
		i.at.Chunks += part.chunks
		if part.last {
			return i.whole(part)
		}
		if err := i.note(); err != nil {
			return err
		}
	}
}

// whole checks the totals in the last line, and deletes the progress of the import.
func (i *imported) whole(last *importPart) error {
	switch {
	case last.end == nil:
		return fault.New(fault.Corrupt, "%s has no last line: its export was not finished; "+
			"%s of it are imported", i.path, cli.Counted(i.at.Chunks, "chunk"))
	case last.end.Chunks != i.at.Chunks:
		return fault.New(fault.Corrupt, "%s has %s and its last line says %d", i.path,
			cli.Counted(i.at.Chunks, "chunk"), last.end.Chunks)
	case !i.resumable():
		return nil
	}
	if err := os.Remove(i.notePath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(fault.InvalidArgument, err, "remove %s", i.notePath())
	}
	return nil
}

// importPart is some lines of the file.
type importPart struct {
	body          bytes.Buffer
	bytes         int64
	lines, chunks int
	last          bool
	end           *exportCount
}

func (i *imported) readPart(lines *bufio.Reader) (*importPart, error) {
	p := &importPart{}
	for !p.last && p.lines < importLines && p.body.Len() < importBytes {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			p.last = true // a line without an end is not whole
			return p, nil
		case err != nil:
			return nil, fault.Wrap(fault.InvalidArgument, err, "read %s", i.path)
		}
		p.bytes += int64(len(line))
		p.lines++
		if !bytes.HasPrefix(line, endPrefix) {
			p.chunks++
			if i.wanted(line) {
				p.body.Write(line)
			}
			continue
		}
		var end exportEnd
		if err := json.Unmarshal(line, &end); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "the last line of %s", i.path)
		}
		p.end, p.last = end.End, true
	}
	return p, nil
}

// write sends a part. A refused chunk is reported; an outage ends the import.
func (i *imported) write(ctx context.Context, part *importPart) error {
	asIs := i.head.Vectors || i.kb.Dimensions == 0
	answer, err := i.client.Stream(ctx, cli.Call{
		Method: http.MethodPost, Body: &part.body, ContentType: cli.AsNDJSON,
		Path: fmt.Sprintf("%s/documents?as_is=%t&refresh=%t", cli.BasePath(i.kb.ID), asIs, part.last),
	})
	if err == nil {
		err = errors.Join(i.lineResults(answer, i.path, i.at.Lines), answer.Close())
	}
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "stopped after line %d of %s; repeat the command and it goes on from there",
			i.at.Lines, i.path)
	}
	return nil
}

// passing are the errors of a line that it would not have again later.
var passing = []fault.Kind{fault.Unavailable, fault.Overloaded, fault.Timeout, fault.Canceled}

// lineResults counts the results of lines, of which before were written already.
func (u *upload) lineResults(answer io.Reader, source string, before int) error {
	return eachResult(answer, func(r ingest.Result) error {
		if r.Error != nil && (r.Line == 0 || slices.Contains(passing, r.Error.Code)) {
			return &fault.Error{Kind: r.Error.Code, Field: r.Error.Field, Detail: r.Error.Detail}
		}
		r.Line += before
		u.count(source, r)
		return nil
	})
}
