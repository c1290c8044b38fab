package retrieve

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/textquery"
)

// frequenciesIn gives the frequencies of the question's terms in the field of a leg.
func (rt *Retrieval) frequenciesIn(ctx context.Context, l int) (analysis.Frequencies, bool) {
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
func (rt *Retrieval) matchedByText() bool {
	for l := range rt.Legs {
		if rt.Legs[l].Kind != scoring.Text {
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

// frequencies gives the frequencies of a wording's terms in the text field.
func (rt *Retrieval) frequencies(query int) analysis.Frequencies {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.Kind == scoring.Text && l.Query == query && l.err == nil {
			return l.frequencies
		}
	}
	return analysis.Frequencies{}
}

// UnknownWords are the terms of the question that occur in no searched text field, nor do their
// synonyms. If the plan needs no statistics, these are only requested if no chunk matched.
func UnknownWords(ctx context.Context, terms []analysis.QueryTerm, retrievals []Retrieval) []analysis.QueryTerm {
	known := make([]bool, len(terms))
	asked := false
	for i := range retrievals {
		rt := &retrievals[i]
		for l := range rt.measured.legs {
			if rt.measured.legs[l].Kind != scoring.Text || rt.measured.legs[l].Query > 0 {
				continue
			}
			f, ok := rt.frequenciesIn(ctx, l)
			if !ok {
				return nil // the vocabulary is unknown
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

// WeightsOfWords gives, for each wording of the question, the weights of its words and of the pairs of
// neighbours among them.
func (rt *Retrieval) WeightsOfWords() []map[string]float64 {
	wordings := rt.Question.Wordings()
	all := make([]map[string]float64, len(wordings))
	for query, wording := range wordings {
		all[query] = rank.WeightsOfWords(&wording.Parsed, rt.frequencies(query))
	}
	return all
}

// Similarities are the best raw cosine of the vector legs and the best
// normalised score of the text legs in [0, 1], nil if unknown.
func (rt *Retrieval) Similarities(legs []scoring.Contribution) (vector, term *float64) {
	for i := range legs {
		switch rt.Legs[i].Kind {
		case scoring.Vector:
			vector = answer.Larger(vector, legs[i].Raw)
		case scoring.Text:
			term = answer.Larger(term, rt.termSimilarity(&legs[i]))
		case scoring.Signal:
		}
	}
	return vector, term
}

// termSimilarity is 0 for a chunk that holds none of the words, nil if
// unknown.
func (rt *Retrieval) termSimilarity(l *scoring.Contribution) *float64 {
	switch {
	case l.Raw == nil:
		return nil
	case !(*l.Raw > 0):
		return new(0.0)
	case l.Normalized == nil:
		return nil
	}
	return new(rt.Plan.Fusion.Similarity(*l.Normalized))
}

// Words is the query of the text legs, with the terms of further phrasings; without a text leg,
// the plain terms of the question.
func (rt *Retrieval) Words(asker ask.Asker) textquery.Query {
	var all textquery.Query
	field := ""
	for i := range rt.Legs {
		switch l := &rt.Legs[i]; {
		case l.Text == nil || field != "" && l.Field != field:
		case field == "":
			all, field = *l.Text, l.Field
		default:
			all.Terms = append(slices.Clip(all.Terms), l.Text.Terms...)
		}
	}
	if field == "" {
		return analysis.Compose(rt.Question.Parsed, analysis.Frequencies{}, asker.Expander(&rt.KB), rt.Plan.Text)
	}
	return all
}

// AddTimes adds the times of a retrieval: for a leg on several knowledge bases, the
// longest.
func AddTimes(t *answer.Timings, rt *Answered) {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.ran {
			t.Legs[l.Name] = max(t.Legs[l.Name], l.took)
		}
	}
}

// CountLegs counts the legs of a finished retrieval. An empty one is ok and has no duration.
func CountLegs(m *engines.Metrics, rt *Answered) {
	if m == nil {
		return
	}
	engine := rt.Engine.Name()
	for i := range rt.Legs {
		l := &rt.Legs[i]
		m.Leg(engine, l.Name, l.ran, l.took, l.err)
	}
}
