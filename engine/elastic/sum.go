package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
)

// searchSum lets Elasticsearch add up: one response has the order of the sum and, in the
// scores of the named clauses, its parts.
func (e *Engine) searchSum(ctx context.Context, p *plan) (*engine.Result, error) {
	c := newCandidates(p)
	a, err := e.rankBySum(ctx, p)
	if err != nil || a == nil {
		return c.result(methodExact), err
	}
	c.hits = a.hits
	engine.Join(c.hits, p.req.Legs)
	for i := range p.legs {
		c.outcomes[i].Took = a.Took
	}
	c.orderTies(a.scores)
	return c.result(methodExact), nil
}

// rankBySum returns the best candidates; nil when nothing can match. Where ties are rare
// they come unordered, as ordering them by id takes a third of the time of such a request.
// Only where a tie decides which hit is the last candidate a second request orders them.
func (e *Engine) rankBySum(ctx context.Context, p *plan) (*ranking, error) {
	query, possible, err := p.sumQuery()
	if err != nil || !possible {
		return nil, err
	}
	a, err := e.runSum(ctx, p, p.sumSearch(e, query))
	most := p.req.Sum.Candidates
	if err != nil || len(a.hits) <= most {
		return a, err
	}
	if a.scores[most-1] > a.scores[most] {
		a.keep(most)
		return a, nil
	}
	return e.runSum(ctx, p, p.sumSearchBy(p.t.order, e, query))
}

func (e *Engine) runSum(ctx context.Context, p *plan, search esquery.Search) (*ranking, error) {
	return p.search(ctx, e, rest.Post(p.t.scoredPath, search), search.Size)
}

// sumSearch is the search whose score is the sum. Where ties are rare it asks for one hit
// more, to see whether the last candidate and the next are equal.
func (p *plan) sumSearch(e *Engine, query esquery.Query) esquery.Search {
	search := p.sumSearchBy(p.t.order, e, query)
	if p.tiesAreRare() {
		search = p.sumSearchBy(nil, e, query)
		search.Size++
	}
	return search
}

func (p *plan) sumSearchBy(order []esquery.Sort, e *Engine, query esquery.Query) esquery.Search {
	return esquery.Search{
		Query: query, Size: p.req.Sum.Candidates, Sort: order,
		DocValueFields: p.docValues(), NoStored: p.t.Names.ID != "", Timeout: e.searchTimeout(),
	}
}

// tiesAreRare reports whether a cosine decides: those are hardly ever equal, scores of
// words often are.
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

// sumQuery scores by the sum. Each leg's named clause is inside a clause whose boost is
// the weight, so that the named score is the raw one, even at weight 0. possible is false
// when nothing can match.
func (p *plan) sumQuery() (query esquery.Bool, possible bool, err error) {
	query.Filter = p.filters
	query.Should = make([]esquery.Query, 0, 2*len(p.legs))
	parts := make([]sumLeg, len(p.legs))
	everything := len(p.legs) == 0 // every chunk takes part, not only those that match
	for i := range p.legs {
		l := &p.legs[i]
		required := l.leg.Required && l.isText() && l.err == nil
		if required && l.idle {
			return query, false, nil
		}
		everything = everything || !l.isText() && l.err == nil
		if !l.runs() {
			continue
		}
		clause := parts[i].boosted(p, l, &p.req.Sum.Weights[i])
		if required {
			query.Must = append(query.Must, clause)
		} else {
			query.Should = append(query.Should, clause)
		}
		query.Should = append(query.Should, p.absentClauses(l, i)...)
	}
	if !everything && len(query.Must) == 0 {
		if len(query.Should) == 0 {
			return query, false, nil
		}
		if len(p.signals) > 0 { // they add to chunks that match, and are no match themselves
			query.Must, query.Should = []esquery.Query{esquery.Bool{Should: query.Should, MinimumShouldMatch: 1}}, nil
		} else {
			query.MinimumShouldMatch = 1
		}
	}
	signals, err := p.signalClauses()
	query.Should = append(query.Should, signals...)
	return query, true, err
}

// absentClauses give chunks without the leg's vector the points that the sum has for them.
func (p *plan) absentClauses(l *legPlan, leg int) []esquery.Query {
	points := p.req.Sum.Weights[leg] * p.req.Sum.AbsentPoints(leg)
	if l.isText() || points == 0 {
		return nil
	}
	return []esquery.Query{esquery.ConstantScore{
		Common: esquery.Common{Boost: &points},
		Filter: esquery.Bool{MustNot: []esquery.Query{l.vector.exists}},
	}}
}

// sumLeg holds a leg's clause in a sum, so that all legs are one allocation.
type sumLeg struct {
	clause esquery.Bool
	must   [1]esquery.Query
	vector esquery.ScriptScore
}

func (s *sumLeg) boosted(p *plan, l *legPlan, weight *float64) esquery.Query {
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

// searchUnion computes the sum here, over the union of the legs' best candidates: with many
// chunks, comparing every vector would take too long.
func (e *Engine) searchUnion(ctx context.Context, p *plan) (*engine.Result, error) {
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
	for i, weight := range p.req.Sum.Signals {
		total += weight * f.Signals[i]
	}
	return total
}
