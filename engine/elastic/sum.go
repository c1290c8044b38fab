package elastic

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
)

// searchSum lets Elasticsearch add up: one request gives the order of the sum
// and, by the scores of the named clauses, its parts.
func (e *Engine) searchSum(ctx context.Context, p *plan) (*engine.Result, error) {
	u := newUnion(p)
	s, possible, err := p.sumStatement(e)
	if err != nil || !possible {
		return u.summed(methodExact), err
	}
	a, err := e.search(ctx, s)
	if err != nil {
		return nil, err
	}
	u.makeRoom(len(a.Hits))
	for n := range a.Hits {
		h := &a.Hits[n]
		f := &u.hits[u.append(h)]
		for i := range p.legs {
			if score, matched := h.matched(p.legs[i].name); matched {
				f.Observations[i].Raw = p.legs[i].raw(score)
			}
		}
	}
	for i := range p.legs {
		u.outcomes[i].Took = a.took()
	}
	if p.t.names.ID == "" { // ties came in no order
		sums := make([]scored, len(u.hits))
		for at := range a.Hits {
			sums[at] = scored{at, float64(a.Hits[at].Score)}
		}
		u.keep(sums)
	}
	return u.summed(methodExact), nil
}

// keep orders the hits by their scores and forgets all others.
func (u *union) keep(sums []scored) {
	u.order(sums)
	kept := make([]engine.Hit, len(sums))
	for i, s := range sums {
		kept[i] = u.hits[s.at]
	}
	u.hits, u.byID = kept, nil
}

// sumStatement is the request whose score is the sum: each leg's named clause
// inside a clause that has its weight as boost, so that the named score is the
// raw one even at weight 0. possible is false when nothing can match.
func (p *plan) sumStatement(e *Engine) (s statement, possible bool, err error) {
	query := esquery.Bool{Filter: p.filters}
	everything := false // every chunk takes part, not only those that match
	for i := range p.legs {
		l := &p.legs[i]
		required := l.leg.Required && l.isText() && l.err == nil
		if required && l.idle {
			return statement{}, false, nil
		}
		everything = everything || !l.isText() && l.err == nil
		if !l.runs() {
			continue
		}
		clause := p.weighted(l, p.req.Sum.Weights[i])
		if required {
			query.Must = append(query.Must, clause)
		} else {
			query.Should = append(query.Should, clause)
		}
	}
	if !everything && len(query.Must) == 0 {
		if len(query.Should) == 0 {
			return statement{}, false, nil
		}
		query.MinimumShouldMatch = 1
	}
	s, err = post(
		p.t.path("_search", scoredParams...),
		esquery.Search{
			Query: query, Size: p.req.Sum.Candidates, Sort: esquery.ByScore(p.t.names.ID),
			DocValueFields: p.docValues(), NoStored: p.t.names.ID != "", Timeout: e.searchTimeout(),
		},
	)
	return s, true, err
}

func (p *plan) weighted(l *legPlan, weight float64) esquery.Query {
	clause := l.clause()
	if l.isText() && p.req.Sum.Pivot > 0 {
		clause = esquery.ScriptScore{Query: clause, Script: esquery.SaturationScript(p.req.Sum.Pivot)}
	}
	return esquery.Bool{Common: esquery.Common{Boost: &weight}, Must: []esquery.Query{clause}}
}

// searchUnion adds up here, over the union of each leg's best candidates: with
// many chunks, comparing every vector would take too long.
func (e *Engine) searchUnion(ctx context.Context, p *plan) (*engine.Result, error) {
	for i := range p.legs {
		l := &p.legs[i]
		if !l.leg.Required || !l.isText() || l.err != nil {
			continue
		}
		if l.idle {
			return newUnion(p).summed(methodUnion), nil
		}
		p.filters = append(p.filters, textClause(l.text, l.leg.Text, esquery.Common{}))
	}
	u, err := e.runLegs(ctx, p, func(*legPlan) int { return p.req.Sum.Candidates })
	if err != nil {
		return nil, err
	}
	e.complete(ctx, u)
	sums := make([]scored, len(u.hits))
	for at := range u.hits {
		sums[at] = scored{at, p.sum(&u.hits[at])}
		for i := range p.legs {
			u.hits[at].Observations[i].Rank = 0
		}
	}
	u.keep(sums)
	u.hits = u.hits[:min(len(u.hits), p.req.Sum.Candidates)]
	return u.summed(methodUnion), nil
}

// sum is the formula of engine.Sum.
func (p *plan) sum(f *engine.Hit) float64 {
	total := 0.0
	for i, o := range f.Observations {
		points := o.Raw
		switch {
		case !o.Known():
			points = 0
		case !p.legs[i].isText():
			points = o.Raw + 1
		case p.req.Sum.Pivot > 0:
			points = o.Raw / (o.Raw + p.req.Sum.Pivot)
		}
		total += p.req.Sum.Weights[i] * points
	}
	return total
}

// summed ranks the hits within each leg and keeps them in the order of the sum.
func (u *union) summed(method string) *engine.Result {
	all := make([]scored, 0, len(u.hits))
	for i := range u.p.legs {
		returned := all
		for at := range u.hits {
			raw := u.hits[at].Observations[i].Raw
			if !math.IsNaN(raw) && (raw != 0 || !u.p.legs[i].isText()) {
				returned = append(returned, scored{at, raw})
			}
		}
		u.rank(i, returned)
	}
	return &engine.Result{Legs: u.outcomes, Method: method, Hits: u.hits}
}
