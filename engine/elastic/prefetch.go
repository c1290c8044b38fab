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

// mostPrefetched is for how many hits at most their chunks are prefetched: of more, each
// is unlikely to be shown.
const mostPrefetched = 50

// canPrefetch reports whether chunks are asked for, and can be read with the hits.
func (p *plan) canPrefetch() bool {
	return p.req.Prefetch > 0 && p.req.Prefetch <= mostPrefetched && p.t.Names.Source.Chunk != ""
}

// legsPrefetch reports whether chunks are prefetched with the ranking of legs: the order
// of a single text leg is that of the answer, and among few chunks its search is quick.
func (e *Engine) legsPrefetch(ctx context.Context, p *plan, legs []int) bool {
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

// pageSearch is a leg's search for the chunks that are shown.
func (p *plan) pageSearch(leg esquery.SearchLine) esquery.SearchLine {
	s := &leg.Search
	s.Size, s.Source, s.NoStored, s.DocValueFields = min(s.Size, p.req.Prefetch), p.t.sources, false, nil
	return leg
}

// prefetchedChunks gives the chunks that came along; none where that failed: they are read
// later.
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
