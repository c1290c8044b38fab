package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// The defaults of a gate.
const (
	gateK       = 10
	gateOverlap = 0.8
	gateLoss    = 0.02
)

// gate runs its queries on both shapes and compares; not to pass is a fault.Conflict.
func (r *run) gate(ctx context.Context) error {
	e, ok := r.Migrator.(engine.Engine)
	if !ok || r.Answer == nil {
		return fault.New(fault.Unsupported, "this gateway has no relevance gate")
	}
	g := r.m.Plan.Options.Gate
	var cases []gateCase
	for _, q := range g.Queries {
		before, err := r.search(ctx, r.m.From, e, q.Query)
		if err != nil {
			return err
		}
		after, err := r.search(ctx, r.m.Plan.Wanted, e, q.Query)
		if err != nil {
			return err
		}
		cases = append(cases, gateCase{before, after, q.Relevant})
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	r.m.Gate = judge(&g, cases)
	if !r.m.Gate.Passed {
		return fault.New(fault.Conflict, "the relevance gate refuses the switch: %s", r.m.Gate.Detail)
	}
	return nil
}

// gatePatience is how long a query of the gate is repeated. It is short because the step
// itself waits for an engine that is away, while a leg that is missing, perhaps for want of
// the embedding model, stays missing.
const gatePatience = 15 * time.Second

// search repeats a query until its answer is complete.
func (r *run) search(ctx context.Context, kb engine.KnowledgeBase, e engine.Engine, query string) ([]string, error) {
	ids, err := backoff.Retry(ctx, func() ([]string, error) {
		ids, err := r.Answer(ctx, kb, e, query, cmp.Or(r.m.Plan.Options.Gate.K, gateK))
		if err != nil && !transient(err) {
			return nil, backoff.Permanent(err)
		}
		return ids, err
	}, backoff.WithMaxElapsedTime(min(gatePatience, r.Patience)))
	if f, ok := errors.AsType[*fault.Error](err); ok && transient(f) {
		return nil, fault.Wrap(fault.Conflict, f, "the relevance gate gets no answers to compare: %s", f.Detail)
	}
	return ids, err
}

// gateCase is one query of a gate: the ids that each shape found, and the gains of the
// relevant ones.
type gateCase struct {
	before, after []string
	relevant      map[string]int
}

// judge compares what was found with what the gate demands.
func judge(g *engine.MappingGate, cases []gateCase) *engine.GateResult {
	k := cmp.Or(g.K, gateK)
	result := &engine.GateResult{Queries: len(cases)}
	for _, c := range cases {
		result.Overlap += overlap(c.before, c.after) / float64(len(cases))
		if len(c.relevant) > 0 {
			result.Judged++
			result.Before += ndcg(c.before, c.relevant, k)
			result.After += ndcg(c.after, c.relevant, k)
		}
	}
	if result.Judged > 0 {
		result.Before /= float64(result.Judged)
		result.After /= float64(result.Judged)
	}
	minOverlap := g.MinOverlap
	if minOverlap == 0 && result.Judged < len(cases) {
		minOverlap = gateOverlap
	}
	maxLoss := cmp.Or(g.MaxLoss, gateLoss)
	loss := result.Before - result.After
	result.Passed = result.Overlap >= minOverlap && loss <= maxLoss
	result.Detail = fmt.Sprintf(
		"overlap@%d is %.3f (at least %.3f), nDCG@%d fell by %.3f (at most %.3f) over %d judged of %d queries",
		k, result.Overlap, minOverlap, k, loss, maxLoss, result.Judged, len(cases))
	return result
}

// overlap is the share of the longer list that is in both; 1 for two empty ones.
func overlap(a, b []string) float64 {
	longest := max(len(a), len(b))
	if longest == 0 {
		return 1
	}
	common := 0
	for _, id := range a {
		if slices.Contains(b, id) {
			common++
		}
	}
	return float64(common) / float64(longest)
}

// ndcg is Järvelin and Kekäläinen's, with the gain as it is given and the
// discount 1/log2(rank + 1), as trec_eval has it.
func ndcg(found []string, gains map[string]int, k int) float64 {
	sum := 0.0
	for i, id := range found[:min(k, len(found))] {
		sum += float64(max(0, gains[id])) / math.Log2(float64(i+2))
	}
	best := make([]int, 0, len(gains))
	for _, gain := range gains {
		best = append(best, max(0, gain))
	}
	slices.SortFunc(best, func(a, b int) int { return b - a })
	ideal := 0.0
	for i, gain := range best[:min(k, len(best))] {
		ideal += float64(gain) / math.Log2(float64(i+2))
	}
	if ideal == 0 {
		return 0
	}
	return sum / ideal
}
