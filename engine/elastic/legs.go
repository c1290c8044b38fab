package elastic

import (
	"context"
	"math"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

const dfs = "dfs_query_then_fetch" // document frequencies of all shards together

// Search implements engine.Searcher.
func (e *Engine) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	p, err := t.plan(req)
	if err != nil {
		return nil, err
	}
	if err := e.chooseMethod(ctx, p); err != nil {
		return nil, err
	}
	switch {
	case req.Sum == nil:
		return e.searchLegs(ctx, p)
	case p.hasNearest():
		return e.searchUnion(ctx, p)
	default:
		return e.searchSum(ctx, p)
	}
}

// union gathers what the legs returned.
type union struct {
	p        *plan
	hits     []engine.Hit
	places   map[string]int // of hits, by id
	outcomes []engine.LegOutcome
	chunks   []engine.Chunk // that came along
	full     []bool         // per leg: it may know more than it returned
}

func newUnion(p *plan) *union {
	u := &union{p: p, full: make([]bool, len(p.legs)), outcomes: make([]engine.LegOutcome, len(p.legs))}
	for i := range p.legs {
		u.outcomes[i] = engine.LegOutcome{Method: p.legs[i].method(), Err: p.legs[i].err}
	}
	return u
}

// searchLegs gives one ranking per leg.
func (e *Engine) searchLegs(ctx context.Context, p *plan) (*engine.Result, error) {
	u, err := e.runLegs(ctx, p, func(l *legPlan) int { return l.leg.K })
	if err != nil {
		return nil, err
	}
	if p.req.DeferScores {
		u.leaveOut()
	} else {
		e.complete(ctx, u)
	}
	return u.result(methodOf(p.hasNearest())), nil
}

func (u *union) result(method string) *engine.Result {
	return &engine.Result{Legs: u.outcomes, Hits: u.hits, Method: method, Chunks: u.chunks}
}

// runLegs runs all legs in one _msearch. It fails when no leg ran.
func (e *Engine) runLegs(ctx context.Context, p *plan, k func(*legPlan) int) (*union, error) {
	u := newUnion(p)
	searches, legs := p.legSearches(k, e)
	if len(legs) == 0 {
		return u, nil
	}
	all := &rankings{p: p}
	for i := range searches {
		all.sizes = append(all.sizes, searches[i].Search.Size)
	}
	if e.legsBring(ctx, p, legs) {
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
	u.chunks = brought(all.page)
	u.expect(all.answers)
	for n, i := range legs {
		e.take(ctx, u, i, all.answers[n], k)
	}
	u.forgetFailed()
	return u, u.allFailed()
}

// forgetFailed: a leg that failed after others had hits knows nothing of these.
func (u *union) forgetFailed() {
	for i := range u.outcomes {
		if u.outcomes[i].Err == nil {
			continue
		}
		for n := range u.hits {
			u.hits[n].Observations[i].Raw = math.NaN()
		}
	}
}

// take adds one leg's answer. A kNN that came back short is asked again
// exactly: filters and deleted chunks can leave its graph with less than there is.
func (e *Engine) take(ctx context.Context, u *union, i int, a *ranking, k func(*legPlan) int) {
	l := &u.p.legs[i]
	u.outcomes[i].Took = a.Took
	err := a.Err()
	if err == nil && l.nearest && len(a.hits) < k(l) {
		l.nearest = false
		u.outcomes[i].Method = l.method()
		request := rest.Post(u.p.t.Path("_search", "search_type", dfs), u.p.legSearch(l, k(l), e))
		if a, err = u.p.search(ctx, e, request, k(l)); err == nil {
			u.outcomes[i].Took += a.Took
		}
	}
	if u.outcomes[i].Err = err; err != nil {
		l.err = err
		return
	}
	u.add(i, a, k(l))
}

func (u *union) allFailed() error {
	var first error
	for i := range u.outcomes {
		if u.outcomes[i].Err == nil {
			return nil
		}
		if first == nil {
			first = u.outcomes[i].Err
		}
	}
	return first
}

// legSearches are those of the legs that run, for one _msearch, and which these are.
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

// searchTimeout is what Elasticsearch is told, so that it says so itself before
// its time is over.
func (e *Engine) searchTimeout() time.Duration { return e.timeout - e.timeout/answerShare }

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

// expect makes room for all hits, any of which may come from several legs.
func (u *union) expect(answers []*ranking) {
	n := 0
	for _, a := range answers {
		n += len(a.hits)
	}
	u.hits, u.places = make([]engine.Hit, 0, n), make(map[string]int, n)
}

// add ranks a leg's hits by raw score, then id, on the leg's own scale.
func (u *union) add(i int, found *ranking, k int) {
	l := &u.p.legs[i]
	u.full[i] = len(found.hits) >= k || l.nearest
	returned := make([]int, 0, len(found.hits))
	for n, score := range found.scores {
		at := u.place(&found.hits[n])
		u.hits[at].Observations[i].Raw = l.raw(score)
		if l.nearest {
			u.hits[at].Observations[i].Raw = cosineOfNearest(float64(score))
		}
		returned = append(returned, at)
	}
	inOrder(u.hits, returned, func(at int) float64 { return u.hits[at].Observations[i].Raw })
	for rank, at := range returned {
		u.hits[at].Observations[i].Rank = rank + 1
	}
}

// place finds the place of a hit, or makes one for it.
func (u *union) place(found *engine.Hit) int {
	at, known := u.places[found.ID]
	if !known {
		at = len(u.hits)
		u.places[found.ID] = at
		u.hits = append(u.hits, *found)
	}
	return at
}

// unmatched is the raw score of a chunk that the leg's clause does not match.
func (l *legPlan) unmatched() float64 {
	if l.isText() && l.err == nil {
		return 0
	}
	return math.NaN()
}
