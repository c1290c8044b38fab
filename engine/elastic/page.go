package elastic

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
)

// The chunks that are shown come along with the ranking where Elasticsearch can tell
// which they are and that is no more work than finding them again by their ids. The
// answer comes by a whole request earlier.

// mostBrought is how many hits at most bring their chunks along: of more of them,
// each is unlikely to be shown.
const mostBrought = 50

// pageName is the aggregation that has the chunks.
const pageName = "page"

// canBring reports whether there are chunks to bring along.
func (p *plan) canBring() bool {
	return p.req.Prefetch > 0 && p.req.Prefetch <= mostBrought && p.t.names.Source.Chunk != ""
}

// legsBring reports whether the ranking of legs brings them: one text leg alone ranks
// as it says, and among few chunks the same search once more is quick.
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
	s.Size, s.Source, s.NoStored, s.DocValueFields = min(s.Size, p.req.Prefetch), p.made.sources, false, nil
	return leg
}

// sumBrings reports whether the ranking of a sum brings them: its order is that of the
// answer. Where vectors are compared every chunk is scored anyway; among the matches of
// words alone Elasticsearch skips what cannot be among the best, and this would end that.
// It is half a millisecond more of Elasticsearch's time than a page by its ids, so it is
// only for when there is time to spare.
func (p *plan) sumBrings() bool {
	return p.alone && p.canBring() && p.comparesVectors()
}

func (p *plan) comparesVectors() bool {
	for i := range p.legs {
		if l := &p.legs[i]; l.runs() && !l.isText() {
			return true
		}
	}
	return false
}

// addPage has a sum's search bring them along.
func (p *plan) addPage(sum *esquery.Search) {
	if p.sumBrings() {
		sum.Aggs = esquery.Aggregations{pageName: esquery.TopHitsAggregation{
			Size: min(p.req.Sum.Candidates, p.req.Prefetch), Sort: sum.Sort, Source: p.made.sources,
		}}
	}
}

// pageOfSum reads what addPage asked for, nil where that is nothing.
func (p *plan) pageOfSum() *contents {
	if !p.sumBrings() {
		return nil
	}
	return p.takePage()
}

// sumPage reads the aggregation of addPage into contents.
type sumPage struct{ *contents }

// read implements readable.
func (p sumPage) read(r reader) {
	for r.object(); r.more(); {
		if r.name() == pageName {
			p.contents.read(r)
		} else {
			r.skip()
		}
	}
}

// takePage reads chunks that come along.
func (p *plan) takePage() *contents {
	page := takeContents(p.t)
	return page
}

// brought are the chunks that came along, none where that failed: they are asked for
// later.
func (c *contents) brought() []engine.Chunk {
	switch {
	case c == nil:
		return nil
	case c.own.passing:
		return c.own.all
	default:
		return slices.Clone(c.own.all)
	}
}
