package search

import (
	"context"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/language"
)

// phrasing is the question in one wording.
type phrasing struct {
	parsed analysis.Query
	vector []float32
	// noVector says why there is no vector: the vector legs are degraded for it.
	noVector error
	language string // ISO 639-1; empty: it cannot be told
}

// in gives the wording that a leg asks for.
func (q *question) in(l *leg) *phrasing {
	if l.Query == 0 {
		return &q.phrasing
	}
	return &q.more[l.Query-1]
}

// wordings are those of texts; their vectors are made later.
func (s *Searcher) wordings(queries []string) []phrasing {
	all := make([]phrasing, len(queries))
	for i, text := range queries {
		parsed := s.Analyzer.ParsePlain(text)
		all[i] = phrasing{parsed: parsed, language: language.Of(parsed.Text)}
	}
	return all
}

// reword gives a question the further wordings of another request.
func (s *Searcher) reword(ctx context.Context, q question, r *run) question {
	q.more = s.wordings(r.req.Queries)
	if needsVector(r.subjects) {
		s.embedAll(ctx, r, &q)
	}
	return q
}
