package search

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Analyze shows what a request would do: the tokens and their weights, the
// synonyms, the text query, the plan and the exact requests. No leg is run.
func (s *Searcher) Analyze(ctx context.Context, scope access.Scope, req plan.Request) (*answer.AnalyzeResponse, error) {
	r, err := s.planRewritten(ctx, scope, &req)
	if err != nil {
		return nil, err
	}
	q, err := s.asker().Ask(ctx, r.Request, r.Bound, r.Subjects, &r.timings)
	if err != nil {
		return nil, err
	}
	s.setQuestion(r, q)
	if len(r.Bound) == 0 { // a key that is bound to a filter must not see the ids of hidden chunks
		s.asker().Match(&r.Asked)
	}
	response := &answer.AnalyzeResponse{
		Plan: *r.Plan, Required: r.Question.Parsed.Required, Excluded: r.Question.Parsed.Excluded,
		Tokens: []answer.AnalyzedToken{}, Synonyms: []answer.AppliedSynonym{}, Statements: []answer.Statement{},
	}
	if err := s.retriever().Describe(ctx, &r.Asked, r.measured, response); err != nil {
		return nil, err
	}
	return response, nil
}
