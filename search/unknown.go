package search

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/typing"
)

// didYouMean is the question with words that no searched knowledge base has replaced by words
// that are close and are in chunks that the caller may see; empty where there is nothing to
// correct. While all words are known it looks at their frequencies and asks nothing.
func (s *Searcher) didYouMean(ctx context.Context, r *run, set *answerSet) string {
	unknown := s.unknownWords(ctx, r, set)
	if len(unknown) == 0 {
		return ""
	}
	c := typing.Corrector{Analyzer: s.Analyzer, Query: r.Request.Query, Question: &r.Question, Subjects: r.Subjects}
	return c.Correct(ctx, unknown)
}

// unknownWords are the terms of the question that no searched text field has, nor a synonym
// of them. Where a plan needs no statistics they are asked for only if no chunk matched.
func (s *Searcher) unknownWords(ctx context.Context, r *run, set *answerSet) []analysis.QueryTerm {
	terms := r.Question.Parsed.Terms
	known := make([]bool, len(terms))
	asked := false
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		for l := range rt.measured.legs {
			if rt.measured.legs[l].Kind != scoring.Text || rt.measured.legs[l].Query > 0 {
				continue
			}
			f, ok := s.frequenciesIn(ctx, rt, l)
			if !ok {
				return nil // what is there is not known
			}
			asked = true
			for at := range known {
				known[at] = known[at] || f.DF[at] > 0 || at < len(f.Substitutes) && f.Substitutes[at].DF > 0
			}
		}
	}
	if !asked || !slices.Contains(known, false) {
		return nil
	}
	var unknown []analysis.QueryTerm
	for at := range terms {
		if !known[at] {
			unknown = append(unknown, terms[at])
		}
	}
	return unknown
}

// frequenciesIn are those of the question's terms in the field of a leg.
func (s *Searcher) frequenciesIn(ctx context.Context, rt *retrieval, l int) (analysis.Frequencies, bool) {
	leg := &rt.measured.legs[l]
	switch {
	case leg.err != nil:
		return analysis.Frequencies{}, false
	case leg.frequencies.DF != nil:
		return leg.frequencies, true
	case rt.matchedByText():
		return analysis.Frequencies{}, false
	}
	words := rt.vocabulary(0)
	stats, err := engines.Ask(ctx, rt.Subject, engines.CallStatistics, rt.Engine.Statistics,
		&engine.StatisticsRequest{KB: rt.KB, Field: leg.Field, Terms: words.Words})
	if err != nil || stats.TextErr != nil {
		return analysis.Frequencies{}, false
	}
	return ask.FrequenciesOf(words, stats), true
}

// matchedByText reports whether a text leg has found a chunk.
func (rt *retrieval) matchedByText() bool {
	for l := range rt.legs {
		if rt.legs[l].Kind != scoring.Text {
			continue
		}
		for h := range rt.Hits {
			if o := rt.Hits[h].Observations[l]; o.Raw > 0 {
				return true
			}
		}
	}
	return false
}
