package search

import (
	"context"
	"errors"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/admission"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/refine"
)

// The work of a search is estimated before it begins:
//
//	candidates · legs · knowledge bases + 64 · (hits of the page · chunks read with each + chunks reranked)
//
// in units of 4096. A search of one unit is light: all default searches are.
const (
	workUnit = 4096
	hitWork  = 64 // a hit is read, marked and written
)

// cost is the estimated work of a search in units, from 1.
func (r *run) cost() int {
	work := 0
	for i := range r.Subjects {
		plan := &r.Subjects[i].Plan
		work += plan.Candidates * len(plan.Legs)
	}
	from, to := r.Page(r.Plan.TopK)
	around := 2 * r.Request.Neighbours
	if r.ReturnsParents() {
		around += 2 * refine.ParentReach
	}
	work += hitWork * max(to-from, 0) * (1 + around)
	if r.Plan.Rerank != nil {
		work += hitWork * r.Plan.Rerank.Window
	}
	return max(1, (work+workUnit-1)/workUnit)
}

// admit waits until searches may begin; release is called at their end. Only
// computed searches wait here, not cached answers.
func (s *Searcher) admit(ctx context.Context, scope access.Scope, runs ...*run) (release func(), err error) {
	if s.Admission == nil {
		return func() {}, nil
	}
	cost := 0
	for _, r := range runs {
		cost += r.cost()
	}
	if cost == len(runs) {
		cost = 1
	}
	return s.admitWork(ctx, scope, cost)
}

// admitWork is admit for a known estimate.
func (s *Searcher) admitWork(ctx context.Context, scope access.Scope, cost int) (release func(), err error) {
	if s.Admission == nil {
		return func() {}, nil
	}
	ctx, span := tracing.Start(ctx, engines.SpanAdmit)
	defer func() { span.End(err) }()
	release, err = s.Admission.Admit(ctx, scope.Tenant+"\x00"+scope.Key, cost)
	switch {
	case errors.Is(err, admission.ErrFull):
		return nil, fault.New(fault.Overloaded, "too many searches are being computed and waiting; this one is %d units of "+
			"work (limits.search_work, limits.searches)", cost)
	case err != nil:
		return nil, engines.ContextFault(ctx)
	}
	return release, nil
}
