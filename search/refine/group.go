package refine

import (
	"context"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// dropCopies drops every chunk for which its knowledge base has a better one that is equal
// in all of the plan's Distinct fields. Only chunks that share their document with
// others are read, a window at a time, until there are enough candidates.
func (s *Refiner) dropCopies(ctx context.Context, r *ask.Asked, set *Set) error {
	plan := r.Plan
	if len(plan.Distinct) == 0 {
		return nil
	}
	shared := set.SharedDocuments()
	best := make(map[string]string, len(set.Entries)) // id by likeness
	fields := strings.Join(plan.Distinct, ", ")
	return set.Sift(&rank.Sieve{
		Next: func(kept, _ int) int {
			if kept > plan.Candidates {
				return 0
			}
			return plan.Candidates
		},
		Read: func(window []scoring.Fused) ([]*engine.Chunk, error) {
			chunks, err := set.Fetch(ctx, set.Among(window, shared), (*retrieve.Retrieval).ReadChunks)
			if err != nil {
				return nil, err
			}
			all := make([]*engine.Chunk, len(window))
			for i := range window {
				if shared[set.Document(&window[i])] {
					all[i], chunks = chunks[0], chunks[1:]
				}
			}
			return all, nil
		},
		Better: func(e *scoring.Fused, chunk *engine.Chunk) (rank.StandIn, bool) {
			likeness := rank.Likeness(e, chunk, plan.Distinct)
			id, copied := best[likeness]
			if !copied {
				best[likeness] = e.ID()
			}
			return rank.StandIn{Key: rank.Key{Source: e.Source, ID: id}, Fields: fields}, copied
		},
	})
}

// Cut drops entries below a threshold.
func (s *Refiner) Cut(ctx context.Context, set *Set, threshold *plan.Threshold) {
	ctx, span := tracing.Start(ctx, engines.SpanCut)
	defer span.End(nil)
	calibrated, degraded := s.Retriever.Calibrate(ctx, set.Retrievals)
	set.Calibrated, set.Degraded = calibrated, append(set.Degraded, degraded...)
	set.CutByRelevance(threshold)
	set.Cut(threshold)
}

// Group keeps the best chunk of each document, and of equal chunks, if the plan says so.
func (s *Refiner) Group(ctx context.Context, r *ask.Asked, set *Set) (err error) {
	ctx, span := tracing.Start(ctx, engines.SpanGroup)
	defer func() { span.End(err) }()
	if r.Plan.GroupBy != "" {
		set.GroupByDocument()
	}
	return s.dropCopies(ctx, r, set)
}
