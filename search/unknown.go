package search

import (
	"context"

	"github.com/hybridge-search/hybridge/search/retrieve"
	"github.com/hybridge-search/hybridge/search/typing"
)

// didYouMean is the question with words that no searched knowledge base has replaced by words
// that are close and are in chunks that the caller may see; empty where there is nothing to
// correct. While all words are known it looks at their frequencies and asks nothing.
func (s *Searcher) didYouMean(ctx context.Context, r *run, set *answerSet) string {
	unknown := retrieve.UnknownWords(ctx, r.Question.Parsed.Terms, set.retrievals)
	if len(unknown) == 0 {
		return ""
	}
	c := typing.Corrector{Analyzer: s.Analyzer, Query: r.Request.Query, Question: &r.Question, Subjects: r.Subjects}
	return c.Correct(ctx, unknown)
}
