package elastic

import (
	"context"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// complete fills in the raw scores of hits that a leg did not return. It asks
// only for legs that may know more than they returned. When Elasticsearch does
// not answer, the scores stay unknown and the outcomes of these legs say why.
func (e *Engine) complete(ctx context.Context, u *union) {
	legs, ids := u.missing()
	for batch := range slices.Chunk(ids, maxCandidates) {
		if err := e.completeBatch(ctx, u, legs, batch); err != nil {
			u.forget(legs, batch)
			for _, i := range legs {
				u.outcomes[i].Incomplete = err
			}
		}
	}
}

// leaveOut marks as unknown what missing lists.
func (u *union) leaveOut() {
	for i := range u.p.legs {
		if !u.mayKnowMore(i) {
			continue
		}
		for n := range u.hits {
			if o := &u.hits[n].Observations[i]; o.Rank == 0 {
				o.Raw = math.NaN()
			}
		}
	}
}

// mayKnowMore tells whether a leg may have scores for hits that it did not return.
func (u *union) mayKnowMore(leg int) bool { return u.full[leg] && u.outcomes[leg].Err == nil }

// missing lists the legs that left a hit out, and the ids of these hits.
func (u *union) missing() (legs []int, ids []string) {
	seen := map[string]bool{}
	for i := range u.p.legs {
		if !u.mayKnowMore(i) {
			continue
		}
		left := false
		for n := range u.hits {
			f := &u.hits[n]
			if f.Observations[i].Rank > 0 {
				continue
			}
			left = true
			if !seen[f.ID] {
				seen[f.ID] = true
				ids = append(ids, f.ID)
			}
		}
		if left {
			legs = append(legs, i)
		}
	}
	return legs, ids
}

func (e *Engine) completeBatch(ctx context.Context, u *union, legs []int, ids []string) error {
	scores := &plan{t: u.p.t, legs: u.p.legs} // without facets
	a, err := scores.search(ctx, e, u.p.completeStatement(legs, ids), len(ids))
	if err != nil {
		return err
	}
	for n := range a.hits {
		at, ok := u.places[a.hits[n].ID]
		if !ok {
			return fault.New(fault.Unavailable, "Elasticsearch answered with a chunk that was not asked for")
		}
		for _, i := range legs {
			if o := &u.hits[at].Observations[i]; o.Rank == 0 {
				o.Raw = a.hits[n].Observations[i].Raw
			}
		}
	}
	return nil
}

// scoredParams let the scores of named clauses come with the hits.
var scoredParams = []string{"include_named_queries_score", "true", "search_type", dfs}

// completeStatement asks for the score of each leg's named clause for each of
// the chunks.
func (p *plan) completeStatement(legs []int, ids []string) rest.Request {
	query := esquery.Bool{Filter: and(p.t.Own, p.t.IDFilter(ids))}
	for _, i := range legs {
		query.Should = append(query.Should, p.legs[i].clause())
	}
	search := esquery.Search{Query: query, Size: len(ids)}
	if p.t.Names.ID != "" {
		search.NoStored, search.DocValueFields = true, []string{p.t.Names.ID}
	}
	return rest.Post(p.t.scored, search)
}

// forget marks scores as unknown that could not be asked for.
func (u *union) forget(legs []int, ids []string) {
	for _, id := range ids {
		for _, i := range legs {
			if o := &u.hits[u.places[id]].Observations[i]; o.Rank == 0 {
				o.Raw = math.NaN()
			}
		}
	}
}
