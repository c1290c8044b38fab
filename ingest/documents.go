package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// maxPage is the most entries of one listing.
const maxPage = 1000

// DocumentRef names a document of a knowledge base.
type DocumentRef struct {
	KB string
	ID string
}

// Replacement is all the chunks that a document is to have, as NDJSON.
type Replacement struct {
	DocumentRef
	Lines   io.Reader
	Refresh bool // return only when a search sees it

	progress func(FileProgress) error // of a file
}

// ReplaceDocument writes the chunks and removes every other chunk of the document. Lines
// may omit document_id. If one line is bad, or one text cannot be embedded, nothing is
// changed.
func (p *Pipeline) ReplaceDocument(
	ctx context.Context, scope access.Scope, replacement Replacement,
) ([]Result, error) {
	if err := CheckID("document_id", replacement.ID); err != nil {
		return nil, err
	}
	t, err := p.writable(ctx, scope, replacement.KB)
	if err != nil {
		return nil, err
	}
	b, err := p.readDocument(&t.kb, replacement)
	if err != nil {
		return nil, err
	}
	if err := t.admitAll(b); err != nil {
		return nil, err
	}
	if err := p.replace(ctx, t, replacement, b); err != nil {
		return nil, err
	}
	return b.results, nil
}

// readDocument reads all lines, up to the limit for a document.
func (p *Pipeline) readDocument(kb *engine.KnowledgeBase, replacement Replacement) (*batch, error) {
	lines := newLineReader(replacement.Lines, p.options.MaxLine)
	d := decoder{kb: kb, only: replacement.ID}
	b, ids := &batch{}, twins{}
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, brokenInput(err, lines.number+1)
		}
		if l.err != nil {
			return nil, inLine(l.number, l.err)
		}
		chunk, err := d.decode(l.text)
		if err != nil {
			return nil, inLine(l.number, err)
		}
		b.add(chunk, l.number)
		ids.note(&b.results[len(b.results)-1])
		if lines.bytes > int64(p.options.MaxDocument) {
			return nil, fault.New(fault.TooLarge, "the document is larger than %d bytes; write its chunks one by one",
				p.options.MaxDocument)
		}
	}
	if len(b.pending) == 0 {
		return nil, fault.New(fault.InvalidArgument, "the document has no chunk; delete it instead")
	}
	return b, nil
}

// replace embeds and writes the chunks of one document, all or none.
func (p *Pipeline) replace(ctx context.Context, t target, r Replacement, b *batch) error {
	if err := p.makeReady(ctx, &t.kb, r, b); err != nil {
		return err
	}
	outcomes, err := t.engine.ReplaceDocument(ctx, r.ID, engine.WriteRequest{
		KB: t.kb, Chunks: b.chunks(), Refresh: r.Refresh, Admit: t.mayReplaceDocument(r.ID, b),
	})
	if refused, yes := engine.AsRefused(err); yes {
		return b.inLineOf(refused)
	}
	if err != nil {
		return err
	}
	b.resolve(outcomes)
	return nil
}

// inLineOf adds the number of its line to the error of a chunk, where a line has it.
func (b *batch) inLineOf(refused *engine.Refused) error {
	for i := range b.pending {
		if line := b.results[b.pending[i].result].Line; b.pending[i].chunk.ID == refused.ID && line > 0 {
			return inLine(line, refused.Err)
		}
	}
	return refused.Err
}

// tellEvery is how many chunks become ready from one word of progress to the next.
const tellEvery = 32

// makeReady gives every chunk its vectors, or fails for the first that cannot have them.
func (p *Pipeline) makeReady(ctx context.Context, kb *engine.KnowledgeBase, r Replacement, b *batch) error {
	size, tell := p.options.BatchLines, func(FileProgress) error { return nil }
	if r.progress != nil {
		size, tell = min(size, tellEvery), r.progress
	}
	progress := FileProgress{Chunks: len(b.pending)}
	if err := tell(progress); err != nil {
		return err
	}
	for part := range slices.Chunk(b.pending, size) {
		errs, _ := p.embedMissing(ctx, kb, &batch{pending: part})
		for i := range part {
			if err := errs[i]; err != nil {
				return inLine(b.results[part[i].result].Line, err)
			}
		}
		progress.Ready += len(part)
		if err := tell(progress); err != nil {
			return err
		}
	}
	return nil
}

// inLine adds the number of the line to an error.
func inLine(number int, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return &fault.Error{Kind: f.Kind, Field: f.Field, Detail: fmt.Sprintf("line %d: %s", number, f.Detail), Err: f.Err}
}

// DeleteDocument removes a document and returns how many chunks it had; fault.NotFound if
// it had none.
func (p *Pipeline) DeleteDocument(ctx context.Context, scope access.Scope, document DocumentRef) (int, error) {
	t, err := p.writable(ctx, scope, document.KB)
	if err != nil {
		return 0, err
	}
	var removed int
	if scope.Filter == nil {
		removed, err = t.engine.DeleteDocument(ctx, t.kb, document.ID)
	} else {
		removed, err = t.removeAll(ctx, t.within(engine.OfDocument(document.ID)))
	}
	if err == nil && removed == 0 {
		return 0, noDocument(document)
	}
	return removed, err
}

// DeleteChunks removes chunks by id and returns how many existed.
func (p *Pipeline) DeleteChunks(ctx context.Context, scope access.Scope, kb string, ids []string) (int, error) {
	t, err := p.writable(ctx, scope, kb)
	if err != nil {
		return 0, err
	}
	if scope.Filter == nil {
		return t.engine.DeleteChunks(ctx, t.kb, ids)
	}
	var changed Changed
	for some := range slices.Chunk(ids, engine.MaxChange) {
		outcomes, err := t.engine.ChangeChunks(ctx, engine.ChangeRequest{
			KB: t.kb, IDs: some, Edit: engine.RemoveThose(scope.Filter),
		})
		if changed.add(outcomes); err != nil {
			return changed.Chunks, err
		}
	}
	return changed.Chunks, changed.outcome(incompleteDeletion)
}

// Page is a part of a listing: up to Limit entries, 1 to 1000, after an id.
type Page struct {
	After string
	Limit int
}

func (p Page) check() error {
	if p.Limit < 1 || p.Limit > maxPage {
		return fault.Invalid("limit", p.Limit, "1 to 1000")
	}
	return nil
}

// Documents lists a knowledge base's documents by id.
func (p *Pipeline) Documents(
	ctx context.Context, scope access.Scope, kbID string, page Page,
) ([]engine.Document, error) {
	if err := page.check(); err != nil {
		return nil, err
	}
	t, err := p.readable(ctx, scope, kbID)
	if err != nil {
		return nil, err
	}
	return t.documents(ctx, page)
}

// DocumentChunks lists a document's chunks by ordinal, hidden ones too; page.After is the id
// of a chunk. It is a fault.NotFound if the document has none.
func (p *Pipeline) DocumentChunks(
	ctx context.Context, scope access.Scope, document DocumentRef, page Page,
) ([]engine.Chunk, error) {
	if err := page.check(); err != nil {
		return nil, err
	}
	t, err := p.readable(ctx, scope, document.KB)
	if err != nil {
		return nil, err
	}
	chunks, err := t.documentChunks(ctx, document.ID, page)
	if err == nil && len(chunks) == 0 && page.After == "" {
		return nil, noDocument(document)
	}
	return chunks, err
}

// GetChunk returns a chunk, hidden or not, without its vectors.
func (p *Pipeline) GetChunk(ctx context.Context, scope access.Scope, kbID, id string) (engine.Chunk, error) {
	kb, e, err := p.catalog.Get(ctx, scope, kbID)
	if err != nil {
		return engine.Chunk{}, err
	}
	chunks, err := e.Chunks(ctx, engine.ChunksRequest{KB: kb, IDs: []string{id}, Hidden: true})
	if err != nil {
		return engine.Chunk{}, err
	}
	if len(chunks) == 0 || !scope.Sees(&chunks[0]) {
		return engine.Chunk{}, notFound("chunk_id", "chunk %q does not exist in knowledge base %q", clip(id, 80), kbID)
	}
	return chunks[0], nil
}

func noDocument(document DocumentRef) error {
	return notFound("document_id", "document %q does not exist in knowledge base %q",
		clip(document.ID, 80), document.KB)
}

func notFound(field, format string, args ...any) error {
	err := fault.New(fault.NotFound, format, args...)
	err.Field = field
	return err
}
