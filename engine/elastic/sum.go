package elastic

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/scoring"
)

// searchSum lets Elasticsearch add up: one request gives the order of the sum
// and, by the scores of the named clauses, its parts.
func (e *Engine) searchSum(ctx context.Context, p *plan) (*engine.Result, error) {
	u := newUnion(p)
	a, err := e.askSum(ctx, p)
	if err != nil || a == nil {
		return u.result(methodExact), err
	}
	u.answers, u.chunks = append(u.answers, a), a.page.brought()
	u.observe(a.ranked)
	for i := range p.legs {
		u.outcomes[i].Took = a.took()
	}
	u.orderEquals(a.ranked.scores)
	return u.result(methodExact), nil
}

// observe takes over the hits of a sum with what each leg says of them.
func (u *union) observe(found *rankedHits) {
	u.makeRoom(len(found.hits))
	u.hits = found.hits
	for leg := range u.p.legs {
		u.observeLeg(leg, found.points)
	}
	for at := range u.hits {
		u.hits[at].Observations = u.observations()
	}
}

// observeLeg takes over what one leg says of the hits, [hit][leg].
func (u *union) observeLeg(leg int, points []float32) {
	kind, blank := u.p.legs[leg].leg.Kind(), u.blank[leg]
	said := u.spare[:len(points)]
	for i := leg; i < len(points); i += len(u.p.legs) {
		score := float64(points[i])
		switch {
		case math.IsNaN(score): // its clause does not match
			said[i] = blank
		case kind == scoring.Text:
			said[i] = scoring.Joint(scoring.Text, score)
		default:
			said[i] = scoring.Joint(scoring.Vector, cosineOfScript(score))
		}
	}
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
	if err != nil || len(a.ranked.hits) <= candidates {
		return a, err
	}
	if scores := a.ranked.scores; scores[candidates-1] > scores[candidates] {
		a.ranked.keep(candidates)
		return a, nil
	}
	a.release()
	return e.searchBy(ctx, p, p.orderedSum(e, query))
}

func (e *Engine) searchBy(ctx context.Context, p *plan, search esquery.Search) (*ranking, error) {
	return p.searchPage(ctx, e, asking(p.made.scored, search), p.pageOfSum())
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

// keep orders the hits by their scores and forgets all others.
func (u *union) keep(sums []float64) {
	order := u.room.places[:0]
	for at, sum := range sums {
		order = append(order, placed(sum, at))
	}
	u.order(order, func(at int) float64 { return sums[at] })
	kept := make([]engine.Hit, len(order))
	for i, hit := range order {
		kept[i] = u.hits[uint32(hit)]
	}
	u.hits = kept
}

// sumSearch is the request whose score is the sum. Where ties are rare it asks for
// one more, to see whether the last candidate is equal to the next.
func (p *plan) sumSearch(e *Engine, query esquery.Query) esquery.Search {
	search := p.sumBy(p.made.order, e, query)
	if p.tiesAreRare() {
		search = p.sumBy(nil, e, query)
		search.Size++
	}
	return search
}

// orderedSum is the same with equals in the order of their ids.
func (p *plan) orderedSum(e *Engine, query esquery.Query) esquery.Search {
	return p.sumBy(p.made.order, e, query)
}

func (p *plan) sumBy(order []esquery.Sort, e *Engine, query esquery.Query) esquery.Search {
	search := esquery.Search{
		Query: query, Size: p.req.Sum.Candidates, Sort: order,
		DocValueFields: p.docValues(), NoStored: p.t.names.ID != "", Timeout: e.searchTimeout(),
	}
	p.addPage(&search)
	return search
}

// tiesAreRare: cosines hardly ever are equal, the scores of words often.
func (p *plan) tiesAreRare() bool {
	if p.t.names.ID == "" || p.req.Sum.Candidates == maxCandidates {
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
	u.hits = u.hits[:min(len(u.hits), p.req.Sum.Candidates)]
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
