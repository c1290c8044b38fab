package live

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// side is the answer of one of two variants.
type side struct {
	request  search.Request
	response *search.Response
	err      error
}

// interleave asks by both variants at once and makes one list of their hits, as long as the longer one. Each hit is as
// its variant gave it; what the answer says beside the hits is the first variant's, but Answerable and MaxScore are the
// larger ones. Of pages each is a part of the same list: the first hits of it depend on as many of each side alone,
// so both are asked for no more than those.
func (s *Searcher) interleave(
	ctx context.Context, scope access.Scope, req search.Request, p *part,
) (*search.Response, []int8, error) {
	if err := req.Validate(); err != nil {
		return nil, nil, err
	}
	started := time.Now()
	page := pageOf(&req)
	page.open(&req)
	sides := [2]side{{request: p.of.arms[0].over(req)}, {request: p.of.arms[1].over(req)}}
	var second sync.WaitGroup
	second.Go(func() { s.ask(ctx, scope, &sides[1]) })
	s.ask(ctx, scope, &sides[0])
	second.Wait()
	a, b := &sides[0], &sides[1]
	switch {
	case a.err != nil && (b.err != nil || ctx.Err() != nil):
		return nil, nil, a.err
	case a.err != nil:
		return page.alone(degradedBy(b.response, a.err)), nil, nil
	case b.err != nil && ctx.Err() != nil:
		return nil, nil, b.err
	case b.err != nil:
		return page.alone(degradedBy(a.response, b.err)), nil, nil
	}
	response, teams := page.of(a, b, p.of.Seed(p.unit, events.Normalized(req.Query)))
	response.TookMS = float64(time.Since(started).Nanoseconds()) / 1e6
	return response, teams, nil
}

// ask asks for one side. A panic becomes its error: nothing above a goroutine would catch it.
func (s *Searcher) ask(ctx context.Context, scope access.Scope, of *side) {
	defer func() {
		if cause := recover(); cause != nil {
			of.err = fault.New(fault.Internal, "panic: %v\n%s", cause, debug.Stack())
		}
	}()
	of.response, of.err = s.Below.Search(ctx, scope, of.request)
}

// slice is the page that is wanted of a list.
type slice struct {
	from  int
	limit int // 0: all from there on
}

func pageOf(req *search.Request) (p slice) {
	if req.Offset != nil {
		p.from = *req.Offset
	}
	if req.Limit != nil {
		p.limit = *req.Limit
	}
	return p
}

// open makes a request one for the list up to the end of the page.
func (p slice) open(req *search.Request) {
	req.Offset = nil
	if p.limit > 0 {
		upTo := min(p.from+p.limit, search.MaxTopK)
		req.Limit = &upTo
	}
}

// bounds gives the bounds of the page in a list of n.
func (p slice) bounds(n int) (from, to int) {
	from, to = min(p.from, n), n
	if p.limit > 0 {
		to = min(from+p.limit, n)
	}
	return from, to
}

// alone is the page of one side's answer.
func (p slice) alone(response *search.Response) *search.Response {
	own := *response
	from, to := p.bounds(len(own.Hits))
	own.Hits = own.Hits[from:to]
	return &own
}

// of is the page of the list of both, and whose its hits are.
func (p slice) of(a, b *side, seed uint64) (*search.Response, []int8) {
	key := func(h *search.Hit) string { return events.HitID(h.KnowledgeBase, h.ID) }
	if groups(&a.request) && groups(&b.request) { // a document is there once in either list, and so in that of both
		key = func(h *search.Hit) string { return events.HitID(h.KnowledgeBase, h.DocumentID) }
	}
	keys, hits := [2][]string{}, map[string][2]*search.Hit{}
	for i, hitsOf := range [2][]search.Hit{a.response.Hits, b.response.Hits} {
		for j := range hitsOf {
			k := key(&hitsOf[j])
			both := hits[k]
			both[i] = cmp.Or(both[i], &hitsOf[j])
			hits[k] = both
			keys[i] = append(keys[i], k)
		}
	}
	picks := experiments.TeamDraft(keys[0], keys[1], seed)
	from, to := p.bounds(min(len(picks), max(len(keys[0]), len(keys[1]))))
	shown, teams := make([]search.Hit, 0, to-from), make([]int8, 0, to-from)
	for _, pick := range picks[from:to] {
		both := hits[pick.ID]
		hit := cmp.Or(both[0], both[1])
		if pick.Team == experiments.TeamB {
			hit = both[1]
		}
		shown, teams = append(shown, *hit), append(teams, int8(pick.Team))
	}
	response := joined(a.response, b.response)
	response.Hits = shown
	return response, teams
}

func groups(req *search.Request) bool { return req.GroupBy != nil && *req.GroupBy != "" }

// joined is an answer of two, without hits.
func joined(a, b *search.Response) *search.Response {
	own := *a
	own.Cached = a.Cached && b.Cached
	own.MaxScore = max(a.MaxScore, b.MaxScore)
	if b.Answerable != nil && (a.Answerable == nil || *a.Answerable < *b.Answerable) {
		own.Answerable = b.Answerable
	}
	if a.Empty == "" || b.Empty == "" {
		own.Empty, own.EmptyReason = "", ""
	}
	own.DidYouMean = cmp.Or(a.DidYouMean, b.DidYouMean)
	own.Degraded = slices.Clip(a.Degraded)
	for i := range b.Degraded {
		if !slices.Contains(own.Degraded, b.Degraded[i]) {
			own.Degraded = append(own.Degraded, b.Degraded[i])
		}
	}
	return &own
}
