package retrieve

import (
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/textquery"
)

// Similarities are the best raw cosine of the vector legs and the best
// normalised score of the text legs in [0, 1], nil where no leg knows one.
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

// termSimilarity is 0 for a chunk that holds none of the words, nil where it is
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

// Words are the query as a text leg has it, with the terms of its further phrasings; without a
// text leg, its plain terms.
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
