package search

import (
	"context"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Observe asks the legs of a request, which is for one knowledge base, and fuses nothing. A joint ranking is taken
// apart: each leg returns its best MaxObserved hits. A reranker reads more than in a search: all hits that other
// weights may bring into its window. No other step before or after the fusion may be requested (errors are
// fault.InvalidArgument and name it); query rules are skipped. A leg, or a reranker, that fails is an error,
// fault.Unavailable: without it, nothing is known of its weight.
func (s *Searcher) Observe(
	ctx context.Context, scope access.Scope, req plan.Request,
) (_ *retrieve.Observed, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanObserve)
	defer func() { span.End(err) }()
	return engines.Settled(ctx, s.Catalog, scope, &req, func() (*retrieve.Observed, []answer.Degraded, error) {
		observed, err := s.observe(ctx, scope, &req)
		return observed, nil, err
	})
}

func (s *Searcher) observe(ctx context.Context, scope access.Scope, req *plan.Request) (*retrieve.Observed, error) {
	if n := len(req.KnowledgeBases); n != 1 {
		return nil, fault.Invalid("knowledge_bases", fault.Length(n), "one knowledge base")
	}
	r, err := s.plan(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	planned := &r.Subjects[0].Plan
	if err := planned.FusesAlone(req); err != nil {
		return nil, err
	}
	observed := &retrieve.Observed{Plan: *planned, Apart: planned.Joint}
	observed.Plan.Legs = slices.Clone(planned.Legs)
	r.demand.AllEvidence = planned.Joint
	if planned.TakeApart(); planned.Legs[0].K > plan.MaxObserved {
		return nil, fault.Invalid("candidates", planned.Legs[0].K, "1 to 200 for each leg to observe")
	}
	release, err := s.begin(ctx, scope, r)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = engine.OneSearch(ctx)
	answers, err := s.retrieve(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	set := refine.Fuse(&r.Asked, answers) // a pool ranks by evidence
	for _, d := range set.Degraded {
		return nil, fault.New(fault.Unavailable, "leg %s took no part: %s", d.Leg, d.Reason)
	}
	set.Retrievals[0].Tell(observed)
	return observed, s.readObserved(ctx, r, set, observed)
}

// readObserved has a reranker read all hits that may come into its window.
func (s *Searcher) readObserved(ctx context.Context, r *run, set *refine.Set, o *retrieve.Observed) error {
	plan := r.Plan.Rerank
	if plan == nil {
		return nil
	}
	var entries []scoring.Fused
	for i := range set.Entries {
		if set.CountBetter(&set.Entries[i], plan.Window) < plan.Window {
			entries = append(entries, set.Entries[i])
		}
	}
	texts, err := set.TextsToRerank(ctx, entries)
	if err != nil {
		return err
	}
	scores, err := s.refiner().Scores(ctx, &r.Asked, texts)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "rerank what was observed")
	}
	o.Reranked = make([]float64, len(o.Candidates))
	for i := range o.Reranked {
		o.Reranked[i] = math.NaN()
	}
	for i := range entries {
		o.Reranked[int(entries[i].Index)-set.From(&entries[i]).Offset] = scores[i]
	}
	return nil
}
