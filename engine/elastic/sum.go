package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
)

// searchSum lets Elasticsearch add up: one request gives the order of the sum
// and, by the scores of the named clauses, its parts.
func (e *Engine) searchSum(ctx context.Context, p *plan) (*engine.Result, error) {
	c := newCandidates(p)
	a, err := e.askSum(ctx, p)
	if err != nil || a == nil {
		return c.result(methodExact), err
	}
	c.hits = a.hits
	engine.Join(c.hits, p.req.Legs)
	for i := range p.legs {
		c.outcomes[i].Took = a.Took
	}
	c.orderEquals(a.scores)
	return c.result(methodExact), nil
}

// askSum gives the best candidates, nil when nothing can match. Where ties are rare it
// does not ask for an order among them: ordering by id as well takes a third of the time
// of such a request. Elasticsearch is asked again only where a tie decides which hit is
// the last candidate.
func (e *Engine) askSum(ctx context.Context, p *plan) (*ranking, error) {
	query, possible := p.sumQuery()
	if !possible {
		return nil, nil
	}
	a, err := e.searchBy(ctx, p, p.sumSearch(e, query))
	most := p.req.Sum.Candidates
	if err != nil || len(a.hits) <= most {
		return a, err
	}
	if a.scores[most-1] > a.scores[most] {
		a.keep(most)
		return a, nil
	}
	return e.searchBy(ctx, p, p.orderedSum(e, query))
}

func (e *Engine) searchBy(ctx context.Context, p *plan, search esquery.Search) (*ranking, error) {
	return p.search(ctx, e, rest.Post(p.t.scored, search), search.Size)
}

// sumSearch is the search whose score is the sum. Where ties are rare it asks for one hit
// more, to see whether the last candidate and the next are equal.
func (p *plan) sumSearch(e *Engine, query esquery.Query) esquery.Search {
	search := p.sumBy(p.t.order, e, query)
	if p.tiesAreRare() {
		search = p.sumBy(nil, e, query)
		search.Size++
	}
	return search
}

// orderedSum is the same, with ties ordered by id.
func (p *plan) orderedSum(e *Engine, query esquery.Query) esquery.Search {
	return p.sumBy(p.t.order, e, query)
}

func (p *plan) sumBy(order []esquery.Sort, e *Engine, query esquery.Query) esquery.Search {
	return esquery.Search{
		Query: query, Size: p.req.Sum.Candidates, Sort: order,
		DocValueFields: p.docValues(), NoStored: p.t.Names.ID != "", Timeout: e.searchTimeout(),
	}
}

// tiesAreRare: cosines hardly ever are equal, the scores of words often.
func (p *plan) tiesAreRare() bool {
	if p.t.Names.ID == "" || p.req.Sum.Candidates == maxCandidates {
		return false
	}
	for i := range p.legs {
		if l := &p.legs[i]; l.runs() && !l.isText() && p.req.Sum.Weights[i] > 0 {
			return true
		}
	}
	return false
}

// sumQuery has as its score the sum: each leg's named clause inside a clause that
// has its weight as boost, so that the named score is the raw one even at weight
// 0. possible is false when nothing can match.
func (p *plan) sumQuery() (query esquery.Bool, possible bool) {
	query.Filter = p.filters
	query.Should = make([]esquery.Query, 0, 2*len(p.legs))
	parts := make([]sumLeg, len(p.legs))
	everything := false // every chunk takes part, not only those that match
	for i := range p.legs {
		l := &p.legs[i]
		required := l.leg.Required && l.isText() && l.err == nil
		if required && l.idle {
			return query, false
		}
		everything = everything || !l.isText() && l.err == nil
		if !l.runs() {
			continue
		}
		clause := parts[i].weighted(p, l, &p.req.Sum.Weights[i])
		if required {
			query.Must = append(query.Must, clause)
		} else {
			query.Should = append(query.Should, clause)
		}
		query.Should = append(query.Should, p.absent(l, i)...)
	}
	if !everything && len(query.Must) == 0 {
		query.MinimumShouldMatch = 1
		return query, len(query.Should) > 0
	}
	return query, true
}

// absent gives the chunks without a leg's vector the points that the sum wants.
func (p *plan) absent(l *legPlan, leg int) []esquery.Query {
	points := p.req.Sum.Weights[leg] * p.req.Sum.AbsentPoints(leg)
	if l.isText() || points == 0 {
		return nil
	}
	return []esquery.Query{esquery.ConstantScore{
		Common: esquery.Common{Boost: &points},
		Filter: esquery.Bool{MustNot: []esquery.Query{l.vector.exists}},
	}}
}

// sumLeg holds the parts of a leg's clause in a sum: one allocation for all legs.
type sumLeg struct {
	clause esquery.Bool
	must   [1]esquery.Query
	vector esquery.ScriptScore
}

func (s *sumLeg) weighted(p *plan, l *legPlan, weight *float64) esquery.Query {
	switch {
	case !l.isText():
		s.vector = l.vectorClause()
		s.must[0] = &s.vector
	case p.req.Sum.Pivot > 0:
		s.must[0] = esquery.ScriptScore{Query: l.clause(), Script: esquery.SaturationScript(p.req.Sum.Pivot)}
	default:
		s.must[0] = l.clause()
	}
	s.clause = esquery.Bool{Common: esquery.Common{Boost: weight}, Must: s.must[:]}
	return &s.clause
}

// searchCandidates adds up here, over the best candidates of all legs: with many chunks,
// comparing every vector would take too long.
func (e *Engine) searchCandidates(ctx context.Context, p *plan) (*engine.Result, error) {
	for i := range p.legs {
		l := &p.legs[i]
		if !l.leg.Required || !l.isText() || l.err != nil {
			continue
		}
		if l.idle {
			return newCandidates(p).result(methodUnion), nil
		}
		p.filters = append(p.filters, textClause(l.text, l.leg.Text, esquery.Common{}))
	}
	c, err := e.runLegs(ctx, p, func(*legPlan) int { return p.req.Sum.Candidates })
	if err != nil {
		return nil, err
	}
	e.complete(ctx, c)
	sums := make([]float64, len(c.hits))
	for at := range c.hits {
		sums[at] = p.sum(&c.hits[at])
	}
	c.keepBest(sums)
	engine.Join(c.hits, p.req.Legs)
	return c.result(methodUnion), nil
}

// sum is the formula of engine.Sum.
func (p *plan) sum(f *engine.Hit) float64 {
	total := 0.0
	for i, o := range f.Observations {
		points := o.Raw
		switch {
		case !o.Known():
			points = p.req.Sum.AbsentPoints(i)
		case !p.legs[i].isText():
			points = o.Raw + 1
		case p.req.Sum.Pivot > 0:
			points = o.Raw / (o.Raw + p.req.Sum.Pivot)
		}
		total += p.req.Sum.Weights[i] * points
	}
	return total
}
