package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
)

// The chunks that are shown come along with the ranking of one text leg among few
// chunks: Elasticsearch runs the same search twice, which is no more work for it than
// finding the chunks again by their ids, and saves a request.

// maxPrefetched bounds how many chunks are prefetched: of a longer page, each is unlikely
// to be shown.
const maxPrefetched = 50

// canPrefetch reports whether chunks are wanted, and can be read with the hits.
func (p *plan) canPrefetch() bool {
	return p.req.Prefetch > 0 && p.req.Prefetch <= maxPrefetched && p.t.Names.Source.Chunk != ""
}

// shouldPrefetch reports whether chunks are prefetched with the ranking of legs: the order
// of a single text leg is the final one, and among few chunks its search is quick.
func (e *Engine) shouldPrefetch(ctx context.Context, p *plan, legs []int) bool {
	return p.req.Sum == nil && p.canPrefetch() && len(legs) == 1 && p.legs[legs[0]].isText() && e.isSmall(ctx, p.t)
}

// isSmall reports whether a knowledge base has few chunks. The last count, however old,
// is good enough.
func (e *Engine) isSmall(ctx context.Context, t *target) bool {
	if known := t.counted.Load(); known != nil {
		return known.value <= e.exactLimit
	}
	n, err := e.countAll(ctx, t)
	return err == nil && n <= e.exactLimit
}

// pageSearch is a leg's search for the chunks that will be shown.
func (p *plan) pageSearch(leg esquery.SearchLine) esquery.SearchLine {
	s := &leg.Search
	s.Size, s.Source, s.NoStored, s.DocValueFields = min(s.Size, p.req.Prefetch), p.t.sources, false, nil
	return leg
}

// prefetchedChunks returns the prefetched chunks; none where that failed, as they are then
// read later.
func prefetchedChunks(page *storage.Page) []engine.Chunk {
	if page == nil || page.Err() != nil {
		return nil
	}
	chunks, err := page.Chunks()
	if err != nil {
		return nil
	}
	return chunks
}
