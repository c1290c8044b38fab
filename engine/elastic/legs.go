package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// searchLegs ranks every leg by itself.
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
	return c.result(methodOf(p.usesKNN())), nil
}

// runLegs runs all legs in one _msearch. It fails only when every leg failed.
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
	if e.shouldPrefetch(ctx, p, legs) {
		searches = append(searches, p.pageSearch(searches[0]))
		all.page = storage.NewPage(p.t.Location)
	}
	request := rest.Post("/_msearch", searches).With(rest.MultiSearchFilter)
	request.Compact = true
	if err := e.client.Read(ctx, request, all); err != nil {
		return nil, err
	}
	if len(all.legs) != len(legs) {
		return nil, fault.New(fault.Unavailable,
			"Elasticsearch gave %d answers to %d searches", len(all.legs), len(legs))
	}
	c.chunks = prefetchedChunks(all.page)
	c.reserve(all.legs)
	for n, i := range legs {
		e.addLeg(ctx, c, i, all.legs[n], k)
	}
	c.markFailedUnknown()
	return c, c.failure()
}

// addLeg adds one leg's ranking. A kNN search that found too few hits runs again, exactly:
// filters and deleted chunks can hide hits from the graph.
func (e *Engine) addLeg(ctx context.Context, c *candidates, i int, a *ranking, k func(*legPlan) int) {
	l := &c.p.legs[i]
	c.outcomes[i].Took = a.Took
	err := a.Err()
	if err == nil && l.knn && len(a.hits) < k(l) {
		l.knn = false
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

// legSearches returns one search per leg that runs, for one _msearch, and which legs
// these are.
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
	case l.knn:
		return knnClause(l.vector.field, l.unit, k, p.filters)
	default:
		return esquery.ScriptScore{
			Query: esquery.Bool{Filter: and(p.filters, l.vector.exists)}, Script: l.cosine(),
		}
	}
}
