package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/hybridge-search/hybridge/fault"
)

// Gone is the fault for a page after a chunk that the document does not have.
func (r *DocumentChunksRequest) Gone() *fault.Error {
	return fault.New(fault.NotFound, "document %q has no chunk %q to continue after", r.DocumentID, r.After)
}

// ChunkLister lists the chunks of a document.
type ChunkLister interface {
	DocumentChunks(ctx context.Context, req DocumentChunksRequest) ([]Chunk, error)
}

// DocumentPages reads all chunks of a document, in pages of the request's limit, and ends after an error. If the last
// chunk of a page is deleted meanwhile, it continues at its place.
func DocumentPages(ctx context.Context, from ChunkLister, req DocumentChunksRequest) iter.Seq2[[]Chunk, error] {
	return func(yield func([]Chunk, error) bool) {
		var last *Chunk
		for {
			page, err := from.DocumentChunks(ctx, req)
			full := len(page) == req.Limit
			if last != nil && fault.Is(err, fault.NotFound) {
				page, full, err = around(ctx, from, req, last)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || !full || len(page) == 0 {
				return
			}
			last = new(page[len(page)-1])
			req.After = last.ID
		}
	}
}

// around reads the page after a deleted chunk: from its ordinal on, without the chunks before it.
func around(ctx context.Context, from ChunkLister, req DocumentChunksRequest, gone *Chunk) ([]Chunk, bool, error) {
	req.From, req.After = gone.Ordinal, ""
	for {
		page, err := from.DocumentChunks(ctx, req)
		if err != nil {
			return nil, false, err
		}
		full := len(page) == req.Limit
		if full {
			req.After = page[len(page)-1].ID
		}
		page = slices.DeleteFunc(page, func(c Chunk) bool { return c.Ordinal == gone.Ordinal && c.ID <= gone.ID })
		if len(page) > 0 || !full {
			return page, full, nil
		}
	}
}
