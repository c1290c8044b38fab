package search

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
	"github.com/hybridge-search/hybridge/search/typing"
)

// Suggest completes the typed text by titles, questions and words of chunks that
// the caller may see.
func (s *Searcher) Suggest(
	ctx context.Context, scope access.Scope, req typing.SuggestRequest,
) (_ *typing.Suggestions, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanSuggest)
	defer func() { span.End(err) }()
	if err := req.Validate(); err != nil {
		return nil, err
	}
	q := ask.Question{}
	if q.Filter.Conditions, err = filter.Parse(req.Filter); err != nil {
		return nil, err
	}
	q.Filter.Conditions = slices.Concat(scope.Filter, q.Filter.Conditions)
	if req.User != nil {
		q.Filter.Owner = *req.User
	}
	release, err := s.admitWork(ctx, scope, 1)
	if err != nil {
		return nil, err
	}
	defer release()
	as := &plan.Request{Query: req.Query, KnowledgeBases: req.KnowledgeBases, Engine: req.Engine}
	suggester := typing.Suggester{Analyzer: s.Analyzer, Resolver: s.resolver()}
	ctx = engine.OneSearch(ctx)
	return engines.Settled(ctx, s.Catalog, scope, as, func() (*typing.Suggestions, []answer.Degraded, error) {
		suggested, err := suggester.Suggest(ctx, scope, as, &q, req.MaxSuggested())
		if err != nil {
			return nil, nil, err
		}
		return suggested, suggested.Degraded, nil
	})
}

// didYouMean is the question with words that are in no searched knowledge base replaced by similar
// words in chunks that the caller may see; empty where there is nothing to
// correct. While all words are known it compares their frequencies and asks no engine.
func (s *Searcher) didYouMean(ctx context.Context, r *run, set *refine.Set) string {
	unknown := retrieve.UnknownWords(ctx, r.Question.Parsed.Terms, set.Retrievals)
	if len(unknown) == 0 {
		return ""
	}
	c := typing.Corrector{Analyzer: s.Analyzer, Query: r.Request.Query, Question: &r.Question, Subjects: r.Subjects}
	return c.Correct(ctx, unknown)
}
