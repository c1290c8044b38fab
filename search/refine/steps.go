package refine

import (
	"context"

	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Cut drops what is under a threshold.
func (s *Refiner) Cut(ctx context.Context, set *Set, threshold *plan.Threshold) {
	ctx, span := tracing.Start(ctx, engines.SpanCut)
	defer span.End(nil)
	calibrated, degraded := s.Retriever.Calibrate(ctx, set.Retrievals)
	set.Calibrated, set.Degraded = calibrated, append(set.Degraded, degraded...)
	set.CutByRelevance(threshold)
	set.Cut(threshold)
}

// Group leaves the best of each document, and of chunks that are alike, where the plan says so.
func (s *Refiner) Group(ctx context.Context, r *ask.Asked, set *Set) (err error) {
	ctx, span := tracing.Start(ctx, engines.SpanGroup)
	defer func() { span.End(err) }()
	if r.Plan.GroupBy != "" {
		set.GroupByDocument()
	}
	return s.dropCopies(ctx, r, set)
}
