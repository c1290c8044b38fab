package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
)

// The chunks that are shown come along with the ranking of one text leg among few
// chunks: Elasticsearch runs the same search twice, which is no more work for it than
// to find the chunks again by their ids. The answer comes by a whole request earlier.

// mostBrought is how many hits at most bring their chunks along: of more of them,
// each is unlikely to be shown.
const mostBrought = 50

// canBring reports whether there are chunks to bring along.
func (p *plan) canBring() bool {
	return p.req.Prefetch > 0 && p.req.Prefetch <= mostBrought && p.t.Names.Source.Chunk != ""
}

// legsBring reports whether the ranking of legs brings them: the order of one text leg
// alone is that of the answer, and among few chunks the same search is quick.
func (e *Engine) legsBring(ctx context.Context, p *plan, legs []int) bool {
	return p.req.Sum == nil && p.canBring() && len(legs) == 1 && p.legs[legs[0]].isText() && e.isSmall(ctx, p.t)
}

// isSmall reports whether a knowledge base has few chunks. How many it had when they
// were counted last is good enough.
func (e *Engine) isSmall(ctx context.Context, t *target) bool {
	if known := t.counted.Load(); known != nil {
		return known.value <= e.exactLimit
	}
	n, err := e.everyChunk(ctx, t)
	return err == nil && n <= e.exactLimit
}

// pageSearch is a leg's search for the chunks that are shown.
func (p *plan) pageSearch(leg esquery.SearchLine) esquery.SearchLine {
	s := &leg.Search
	s.Size, s.Source, s.NoStored, s.DocValueFields = min(s.Size, p.req.Prefetch), p.t.sources, false, nil
	return leg
}

// brought are the chunks that came along, none where that failed: they are asked for
// later.
func brought(page *storage.Page) []engine.Chunk {
	if page == nil || page.Err() != nil {
		return nil
	}
	chunks, err := page.Chunks()
	if err != nil {
		return nil
	}
	return chunks
}
