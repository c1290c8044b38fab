package ingest

import (
	"context"
	"iter"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// What a key that is bound to a filter (access.Scope.Filter) may read and write. Engines know
// of no such thing: chunks are compared here, before they are shown, and where they are when they are
// changed (engine.WriteRequest.Admit, engine.Edit).

// outside is the error of a chunk that does not pass the filter of the key.
func outside(scope *access.Scope, chunk *engine.Chunk) error {
	for i := range scope.Filter {
		switch c := &scope.Filter[i]; {
		case c.Matches(chunk):
		case c.AnyOf != nil: // of several fields
			return fault.New(fault.Forbidden, "the chunk does not pass %s of the filter that this key is bound to", c.Field)
		default:
			err := fault.New(fault.Forbidden, "the chunk's %s does not pass the filter that this key is bound to", c.Field)
			err.Field = memberNamed(chunk, c.Field)
			return err
		}
	}
	return nil
}

// memberNamed returns the name, in a request's line, of a field of filters.
func memberNamed(chunk *engine.Chunk, field string) string {
	if chunk.Own(field) {
		return field
	}
	return "metadata." + field
}

// admit returns errors, by index, for pending chunks that do not pass the scope's filter. Chunks that would replace
// one outside the filter are refused by the engine (mayReplace).
func (t *target) admit(b *batch) map[int]error {
	if t.scope.Filter == nil {
		return nil
	}
	errs := map[int]error{}
	for i := range b.pending {
		if err := outside(&t.scope, &b.pending[i].chunk); err != nil {
			errs[i] = err
		}
	}
	return errs
}

// admitAll returns the error of the first chunk of a document that the scope may not write.
func (t *target) admitAll(b *batch) error {
	errs := t.admit(b)
	for i := range b.pending {
		if errs[i] != nil {
			return inLine(b.results[b.pending[i].result].Line, errs[i])
		}
	}
	return nil
}

// mayReplace refuses to replace or to remove stored chunks that the scope does not see; nil where it sees all.
func (t *target) mayReplace() func(stored *engine.Chunk) error {
	if t.scope.Filter == nil {
		return nil
	}
	return func(stored *engine.Chunk) error {
		if t.scope.Sees(stored) {
			return nil
		}
		err := fault.New(fault.Forbidden, "chunk %q is not one that this key may change", clip(stored.ID, 80))
		err.Field = "id"
		return err
	}
}

// mayReplaceDocument is mayReplace for all chunks of a document.
func (t *target) mayReplaceDocument(document string, b *batch) func(stored *engine.Chunk) error {
	if t.scope.Filter == nil {
		return nil
	}
	given := map[string]bool{}
	for i := range b.pending {
		given[b.pending[i].chunk.ID] = true
	}
	one := t.mayReplace()
	return func(stored *engine.Chunk) error {
		if given[stored.ID] || t.scope.Sees(stored) {
			return one(stored)
		}
		err := fault.New(fault.Forbidden,
			"document %q has chunks that this key may not change; write or delete single chunks", clip(document, 80))
		err.Field = "document"
		return err
	}
}

// stamp gives the chunks of a file, which can say nothing of them, the values that the filter
// of the scope demands, where it demands one.
func (t *target) stamp(b *batch) {
	for i := range t.scope.Filter {
		c := &t.scope.Filter[i]
		if len(c.In) != 1 || c.Not {
			continue
		}
		for j := range b.pending {
			chunk := &b.pending[j].chunk
			switch text, isText := c.In[0].V.(string); {
			case len(chunk.Values(c.Field)) > 0:
			case c.Field == "owner" && isText:
				chunk.Owner = text
			case c.Field != "owner":
				chunk.Metadata[c.Field] = c.In[0].V
			}
		}
	}
}

// chunksOf reads the chunks of a document after one of them, in their order and so many at a
// time; after an error there are no more.
func (t *target) chunksOf(ctx context.Context, document, after string, limit int) iter.Seq2[*engine.Chunk, error] {
	request := engine.DocumentChunksRequest{KB: t.kb, DocumentID: document, To: -1, After: after, Limit: limit}
	return func(yield func(*engine.Chunk, error) bool) {
		for chunks, err := range engine.DocumentPages(ctx, t.engine, request) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range chunks {
				if !yield(&chunks[i], nil) {
					return
				}
			}
			if t.kb.Attach != nil {
				return // an attached index cannot be continued
			}
		}
	}
}

// seen excludes the ids of chunks that the scope does not see.
func (t *target) seen(ctx context.Context, ids []string) ([]string, error) {
	if t.scope.Filter == nil {
		return ids, nil
	}
	chunks, err := t.engine.Chunks(ctx, engine.ChunksRequest{KB: t.kb, IDs: ids, Hidden: true})
	if err != nil {
		return nil, err
	}
	kept := []string{}
	for i := range chunks {
		if t.scope.Sees(&chunks[i]) {
			kept = append(kept, chunks[i].ID)
		}
	}
	return kept, nil
}

// documents lists the documents of which the scope sees a chunk, counting and naming only by
// those. Without a filter the engine does it at once; here each document is read.
func (t *target) documents(ctx context.Context, page Page) ([]engine.Document, error) {
	if t.scope.Filter == nil {
		return t.engine.Documents(ctx, t.kb, page.After, page.Limit)
	}
	all := []engine.Document{}
	for after := page.After; ; {
		some, err := t.engine.Documents(ctx, t.kb, after, page.Limit)
		if err != nil {
			return nil, err
		}
		for _, listed := range some {
			after = listed.ID
			d, err := t.seenDocument(ctx, listed.ID)
			if err != nil {
				return nil, err
			}
			if d.Chunks == 0 {
				continue
			}
			if all = append(all, d); len(all) == page.Limit {
				return all, nil
			}
		}
		if len(some) < page.Limit {
			return all, nil
		}
	}
}

// seenDocument counts the chunks of a document that the scope sees, and takes its name from
// the first of them.
func (t *target) seenDocument(ctx context.Context, id string) (engine.Document, error) {
	d := engine.Document{ID: id}
	for chunk, err := range t.chunksOf(ctx, id, "", maxPage) {
		if err != nil {
			return d, err
		}
		if !t.scope.Sees(chunk) {
			continue
		}
		if d.Chunks++; d.Chunks == 1 {
			d.Name = chunk.DocumentName
		}
		d.WrittenAt = max(d.WrittenAt, chunk.WrittenAt)
	}
	return d, nil
}

// documentChunks lists the chunks of a document that the scope sees.
func (t *target) documentChunks(ctx context.Context, document string, page Page) ([]engine.Chunk, error) {
	if t.scope.Filter == nil {
		return t.engine.DocumentChunks(ctx, engine.DocumentChunksRequest{
			KB: t.kb, DocumentID: document, To: -1, After: page.After, Limit: page.Limit,
		})
	}
	if page.After != "" {
		if known, err := t.seen(ctx, []string{page.After}); err != nil || len(known) == 0 {
			return nil, errOr(err, noDocument(DocumentRef{KB: t.kb.ID, ID: document}))
		}
	}
	all := []engine.Chunk{}
	for chunk, err := range t.chunksOf(ctx, document, page.After, page.Limit) {
		if err != nil {
			return nil, err
		}
		if !t.scope.Sees(chunk) {
			continue
		}
		if all = append(all, *chunk); len(all) == page.Limit {
			break
		}
	}
	return all, nil
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
