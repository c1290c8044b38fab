package ingest

import (
	"context"
	"iter"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// What a key that is bound to a filter (access.Scope.Filter) may read and write. Engines know
// of no such thing: chunks are read and compared here, before they are shown or changed. Two
// keys that write the same new id at the same moment are not kept apart.

// outside is the error of a chunk that does not pass the filter of the key.
func outside(scope *access.Scope, chunk *engine.Chunk) error {
	for i := range scope.Filter {
		switch c := &scope.Filter[i]; {
		case c.Matches(chunk):
		case c.AnyOf != nil: // of several fields
			return fault.New(fault.Forbidden, "the chunk does not pass %s of the filter that this key is bound to", c.Field)
		default:
			err := fault.New(fault.Forbidden, "the chunk's %s does not pass the filter that this key is bound to", c.Field)
			err.Field = c.Field
			return err
		}
	}
	return nil
}

// admit gives the errors of the pending chunks that the scope may not write, by their index:
// those that do not pass its filter, and those whose id is that of a chunk that does not.
func (t *target) admit(ctx context.Context, b *batch) (map[int]error, error) {
	if t.scope.Filter == nil || len(b.pending) == 0 {
		return nil, nil
	}
	ids := make([]string, len(b.pending))
	for i := range b.pending {
		ids[i] = b.pending[i].chunk.ID
	}
	there, err := t.engine.Chunks(ctx, engine.ChunksRequest{KB: t.kb, IDs: ids, Hidden: true})
	if err != nil {
		return nil, err
	}
	foreign := map[string]bool{}
	for i := range there {
		foreign[there[i].ID] = !t.scope.Sees(&there[i])
	}
	errs := map[int]error{}
	for i := range b.pending {
		chunk := &b.pending[i].chunk
		if err := outside(&t.scope, chunk); err != nil {
			errs[i] = err
		} else if foreign[chunk.ID] {
			err := fault.New(fault.Forbidden, "chunk %q is not one that this key may change", clip(chunk.ID, 80))
			err.Field = "id"
			errs[i] = err
		}
	}
	return errs, nil
}

// admitDocument refuses to replace a document by chunks that the scope may not write, or one
// that has chunks which it may not see.
func (t *target) admitDocument(ctx context.Context, document string, b *batch) error {
	if t.scope.Filter == nil {
		return nil
	}
	errs, err := t.admit(ctx, b)
	if err != nil {
		return err
	}
	for i := range b.pending {
		if errs[i] != nil {
			return inLine(b.results[b.pending[i].result].Line, errs[i])
		}
	}
	for chunk, err := range t.chunksOf(ctx, document, "", maxPage) {
		if err != nil {
			return err
		}
		if !t.scope.Sees(chunk) {
			err := fault.New(fault.Forbidden,
				"document %q has chunks that this key may not change; write or delete single chunks", clip(document, 80))
			err.Field = "document_id"
			return err
		}
	}
	return nil
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

// deleteSeen deletes those chunks of a document that the scope sees.
func (t *target) deleteSeen(ctx context.Context, document string) (int, error) {
	var ids []string
	for chunk, err := range t.chunksOf(ctx, document, "", maxPage) {
		if err != nil {
			return 0, err
		}
		if t.scope.Sees(chunk) {
			ids = append(ids, chunk.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	return t.engine.DeleteChunks(ctx, t.kb, ids)
}

// seen leaves out the ids of chunks that the scope does not see.
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
