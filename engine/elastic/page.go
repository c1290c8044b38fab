package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/esquery"
)

// mostBrought is how many hits at most bring their chunks along: of more of them,
// each is unlikely to be shown.
const mostBrought = 50

// bringsChunks reports whether the chunks to be shown are worth asking for together
// with the ranking, by the same search once more: one text leg alone ranks as it says,
// and among few chunks it is no more work than finding them again by their ids. The
// answer comes by a whole request earlier.
func (e *Engine) bringsChunks(ctx context.Context, p *plan, legs []int) bool {
	return p.req.Sum == nil && p.req.Shown <= mostBrought && p.t.names.Source.Chunk != "" &&
		len(legs) == 1 && p.legs[legs[0]].isText() && e.isSmall(ctx, p.t)
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
	s.Size, s.Source, s.NoStored, s.DocValueFields = min(s.Size, p.req.Shown), p.made.sources, false, nil
	return leg
}
