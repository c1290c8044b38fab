package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// searchLegs gives one ranking per leg.
func (e *Engine) searchLegs(ctx context.Context, p *plan) (*engine.Result, error) {
	c, err := e.runLegs(ctx, p, func(l *legPlan) int { return l.leg.K })
	if err != nil {
		return nil, err
	}
	if p.req.DeferScores {
		c.deferMissing()
	} else {
		e.complete(ctx, c)
	}
	return c.result(methodOf(p.hasNearest())), nil
}

// runLegs runs all legs in one _msearch. It fails when no leg ran.
func (e *Engine) runLegs(ctx context.Context, p *plan, k func(*legPlan) int) (*candidates, error) {
	c := newCandidates(p)
	searches, legs := p.legSearches(k, e)
	if len(legs) == 0 {
		return c, nil
	}
	all := &rankings{p: p}
	for i := range searches {
		all.sizes = append(all.sizes, searches[i].Search.Size)
	}
	if e.legsPrefetch(ctx, p, legs) {
		searches = append(searches, p.pageSearch(searches[0]))
		all.page = storage.NewPage(p.t.Location)
	}
	request := rest.Post("/_msearch", searches).With(rest.MultiSearchFilter)
	request.Compact = true
	if err := e.client.Read(ctx, request, all); err != nil {
		return nil, err
	}
	if len(all.answers) != len(legs) {
		return nil, fault.New(fault.Unavailable,
			"Elasticsearch gave %d answers to %d searches", len(all.answers), len(legs))
	}
	c.chunks = prefetchedChunks(all.page)
	c.reserve(all.answers)
	for n, i := range legs {
		e.takeLeg(ctx, c, i, all.answers[n], k)
	}
	c.markFailedUnknown()
	return c, c.failure()
}

// takeLeg adds one leg's answer. A kNN search that found too few runs again without kNN:
// filters and deleted chunks can hide hits from its graph.
func (e *Engine) takeLeg(ctx context.Context, c *candidates, i int, a *ranking, k func(*legPlan) int) {
	l := &c.p.legs[i]
	c.outcomes[i].Took = a.Took
	err := a.Err()
	if err == nil && l.nearest && len(a.hits) < k(l) {
		l.nearest = false
		c.outcomes[i].Method = l.method()
		request := rest.Post(c.p.t.Path("_search", "search_type", dfs), c.p.legSearch(l, k(l), e))
		if a, err = c.p.search(ctx, e, request, k(l)); err == nil {
			c.outcomes[i].Took += a.Took
		}
	}
	if c.outcomes[i].Err = err; err != nil {
		l.err = err
		return
	}
	c.add(i, a, k(l))
}

// legSearches gives one search per leg that runs, for one _msearch, and the numbers of
// these legs.
func (p *plan) legSearches(k func(*legPlan) int, e *Engine) (searches esquery.MultiSearch, legs []int) {
	searches, legs = make(esquery.MultiSearch, 0, len(p.legs)+1), make([]int, 0, len(p.legs))
	for i := range p.legs {
		l := &p.legs[i]
		if !l.runs() {
			continue
		}
		legs = append(legs, i)
		searches = append(searches, esquery.SearchLine{
			Header: esquery.SearchHeader{Index: p.t.Index, Routing: p.t.Routing, SearchType: dfs},
			Search: p.legSearch(l, k(l), e),
		})
	}
	return searches, legs
}

func (p *plan) legSearch(l *legPlan, k int, e *Engine) esquery.Search {
	return esquery.Search{
		Query: p.legQuery(l, k), Size: k, Sort: p.t.order,
		DocValueFields: p.docValues(), NoStored: p.t.Names.ID != "", Timeout: e.searchTimeout(),
	}
}

func (p *plan) legQuery(l *legPlan, k int) esquery.Query {
	switch {
	case l.isText():
		return esquery.Bool{Filter: p.filters, Must: []esquery.Query{textClause(l.text, l.leg.Text, esquery.Common{})}}
	case l.nearest:
		return nearestClause(l.vector.field, l.unit, k, p.filters)
	default:
		return esquery.ScriptScore{
			Query: esquery.Bool{Filter: and(p.filters, l.vector.exists)}, Script: l.cosine(),
		}
	}
}
