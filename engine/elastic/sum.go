package elastic

import (
	"context"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
)

// searchSum lets Elasticsearch add up: one request gives the order of the sum
// and, by the scores of the named clauses, its parts.
func (e *Engine) searchSum(ctx context.Context, p *plan) (*engine.Result, error) {
	u := newUnion(p)
	a, err := e.askSum(ctx, p)
	if err != nil || a == nil {
		return u.result(methodExact), err
	}
	u.hits = a.hits
	engine.Join(u.hits, p.req.Legs)
	for i := range p.legs {
		u.outcomes[i].Took = a.Took
	}
	u.orderEquals(a.scores)
	return u.result(methodExact), nil
}

// askSum gives the best candidates, nil when nothing can match. It lets equals
// come in any order where there are few: ordering them by id takes a third of the
// time of such a request. Only where a tie decides who is among the candidates
// Elasticsearch is asked again.
func (e *Engine) askSum(ctx context.Context, p *plan) (*ranking, error) {
	query, possible := p.sumQuery()
	if !possible {
		return nil, nil
	}
	a, err := e.searchBy(ctx, p, p.sumSearch(e, query))
	candidates := p.req.Sum.Candidates
	if err != nil || len(a.hits) <= candidates {
		return a, err
	}
	if a.scores[candidates-1] > a.scores[candidates] {
		a.keep(candidates)
		return a, nil
	}
	return e.searchBy(ctx, p, p.orderedSum(e, query))
}

func (e *Engine) searchBy(ctx context.Context, p *plan, search esquery.Search) (*ranking, error) {
	return p.search(ctx, e, rest.Post(p.t.scored, search), search.Size)
}

// orderEquals puts hits of the same sum, which are neighbours, in the order of
// their ids.
func (u *union) orderEquals(sums []float32) {
	for start := 0; start < len(sums); {
		end := start + 1
		for end < len(sums) && sums[end] == sums[start] {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(u.hits[start:end], func(a, b engine.Hit) int { return strings.Compare(a.ID, b.ID) })
		}
		start = end
	}
}

// keep leaves the best candidates, in the order of their sums.
func (u *union) keep(sums []float64) {
	order := make([]int, len(sums))
	for at := range order {
		order[at] = at
	}
	inOrder(u.hits, order, func(at int) float64 { return sums[at] })
	order = order[:min(len(order), u.p.req.Sum.Candidates)]
	kept := make([]engine.Hit, len(order))
	for i, at := range order {
		kept[i] = u.hits[at]
	}
	u.hits = kept
}

// sumSearch is the request whose score is the sum. Where ties are rare it asks for
// one more, to see whether the last candidate is equal to the next.
func (p *plan) sumSearch(e *Engine, query esquery.Query) esquery.Search {
	search := p.sumBy(p.t.order, e, query)
	if p.tiesAreRare() {
		search = p.sumBy(nil, e, query)
		search.Size++
	}
	return search
}

// orderedSum is the same with equals in the order of their ids.
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

// sumLeg are the parts of a leg's clause in a sum, in one piece of memory for all legs.
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

// searchUnion adds up here, over the union of each leg's best candidates: with
// many chunks, comparing every vector would take too long.
func (e *Engine) searchUnion(ctx context.Context, p *plan) (*engine.Result, error) {
	for i := range p.legs {
		l := &p.legs[i]
		if !l.leg.Required || !l.isText() || l.err != nil {
			continue
		}
		if l.idle {
			return newUnion(p).result(methodUnion), nil
		}
		p.filters = append(p.filters, textClause(l.text, l.leg.Text, esquery.Common{}))
	}
	u, err := e.runLegs(ctx, p, func(*legPlan) int { return p.req.Sum.Candidates })
	if err != nil {
		return nil, err
	}
	e.complete(ctx, u)
	sums := make([]float64, len(u.hits))
	for at := range u.hits {
		sums[at] = p.sum(&u.hits[at])
	}
	u.keep(sums)
	engine.Join(u.hits, p.req.Legs)
	return u.result(methodUnion), nil
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
