package elastic

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// complete fills in the raw scores of hits that a leg did not return. It asks
// only for legs that may have more hits than they returned. When Elasticsearch does
// not answer, the scores stay unknown and the outcomes of these legs say why.
func (e *Engine) complete(ctx context.Context, c *candidates) {
	legs, ids := c.missing()
	for batch := range slices.Chunk(ids, maxCandidates) {
		if err := e.completeBatch(ctx, c, legs, batch); err != nil {
			c.markUnknown(legs, batch)
			for _, i := range legs {
				c.outcomes[i].Incomplete = err
			}
		}
	}
}

func (e *Engine) completeBatch(ctx context.Context, c *candidates, legs []int, ids []string) error {
	scores := &plan{t: c.p.t, legs: c.p.legs} // without facets
	a, err := scores.search(ctx, e, c.p.completeRequest(legs, ids), len(ids))
	if err != nil {
		return err
	}
	for n := range a.hits {
		at, ok := c.places[a.hits[n].ID]
		if !ok {
			return fault.New(fault.Unavailable, "Elasticsearch answered with a chunk that was not asked for")
		}
		for _, i := range legs {
			if o := &c.hits[at].Observations[i]; o.Rank == 0 {
				o.Raw = a.hits[n].Observations[i].Raw
			}
		}
	}
	return nil
}

// completeRequest scores the chunks by each leg's named clause.
func (p *plan) completeRequest(legs []int, ids []string) rest.Request {
	query := esquery.Bool{Filter: and(p.t.Own, p.t.IDFilter(ids))}
	for _, i := range legs {
		query.Should = append(query.Should, p.legs[i].clause())
	}
	search := esquery.Search{Query: query, Size: len(ids)}
	if p.t.Names.ID != "" {
		search.NoStored, search.DocValueFields = true, []string{p.t.Names.ID}
	}
	return rest.Post(p.t.scoredPath, search)
}
