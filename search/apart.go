package search

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
)

// apartSets are the answer sets for the disjunctive fields, which are counted without their own filter.
// They are ranked beside the answer.
type apartSets struct {
	fields  []string
	sets    []*refine.Set
	errs    []error
	ranking errgroup.Group
	cancel  context.CancelFunc
}

// rankApart starts ranking them; stop cancels it.
func (s *Searcher) rankApart(ctx context.Context, r *run) *apartSets {
	fields := r.Question.Disjunctive
	a := &apartSets{fields: fields, sets: make([]*refine.Set, len(fields)), errs: make([]error, len(fields))}
	ctx, a.cancel = context.WithCancel(ctx)
	for i, field := range fields {
		unfiltered := r.forCounts(field)
		a.ranking.Go(func() error {
			a.sets[i], a.errs[i] = s.rank(ctx, unfiltered)
			return nil
		})
	}
	return a
}

func (a *apartSets) stop() {
	a.cancel()
	_ = a.ranking.Wait()
}

// count replaces the counts of the answer set by these. If there are none, or a leg failed,
// the answer is degraded.
func (a *apartSets) count(into *answer.Response) {
	_ = a.ranking.Wait() // each set has its own error
	for i, field := range a.fields {
		set, err := a.sets[i], a.errs[i]
		if err != nil {
			d := answer.NewDegraded(answer.StepFacets, "", err)
			d.Reason = "the counts of " + field + " are those with the filter on it: " + d.Reason
			into.Degraded = append(into.Degraded, d)
			continue
		}
		if _, asked := into.Facets[field]; asked {
			into.Facets[field] = set.FacetCounts([]string{field})[field]
		}
		if field == plan.FieldDocumentID {
			into.Documents = set.DocumentCounts()
		}
		for _, d := range set.Degraded {
			if !slices.Contains(into.Degraded, d) {
				into.Degraded = append(into.Degraded, answer.Degraded{
					Leg: answer.StepFacets, KnowledgeBase: d.KnowledgeBase, Code: d.Code,
					Reason: "for the counts of " + field + ", " + d.Leg + ": " + d.Reason,
				})
			}
		}
	}
}
