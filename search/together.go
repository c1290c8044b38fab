package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// parallelRequests bounds how many searches of one question run at a time.
const parallelRequests = 8

// Outcome is the answer of one of several searches, or its error.
type Outcome struct {
	Response *answer.Response
	Err      error
}

// RefusedError says which of several requests cannot be planned, and why.
type RefusedError struct {
	Index int
	Err   error
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("request %d: %v", e.Index, e.Err) }

// Unwrap gives the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Together answers several requests for one question at the same time. The query,
// vector, filter, user and facets of the first apply to all of them: they are
// analyzed and embedded once. When one request cannot be planned,
// all are refused (RefusedError); one that fails later has an error for its outcome.
func (s *Searcher) Together(ctx context.Context, scope access.Scope, requests []plan.Request) ([]Outcome, error) {
	runs := make([]*run, len(requests))
	var all run
	for i := range requests {
		r, err := s.planRewritten(ctx, scope, &requests[i])
		if err != nil {
			return nil, &RefusedError{Index: i, Err: err}
		}
		runs[i] = r
		all.Subjects = slices.Concat(all.Subjects, r.Subjects)
	}
	if len(runs) == 0 {
		return nil, nil
	}
	release, err := s.admit(ctx, scope, runs...)
	if err != nil {
		return nil, err
	}
	defer release()
	all.Request, all.Bound = runs[0].Request, scope.Filter
	asked, err := s.asker().Ask(ctx, all.Request, all.Bound, all.Subjects, &all.timings)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(runs))
	var group errgroup.Group
	group.SetLimit(parallelRequests)
	for i, r := range runs {
		question := asked
		if !slices.Equal(r.Request.Queries, all.Request.Queries) { // a language model wrote them
			question = s.asker().Reword(ctx, asked, r.Request, r.Subjects)
		}
		s.setQuestion(r, question)
		r.timings.Analyze, r.timings.Embed = all.timings.Analyze, all.timings.Embed
		group.Go(func() error {
			outcomes[i].Response, outcomes[i].Err = s.answer(ctx, r, time.Now())
			return nil
		})
	}
	return outcomes, group.Wait()
}
