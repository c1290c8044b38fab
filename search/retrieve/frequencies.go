package retrieve

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// frequenciesIn are those of the question's terms in the field of a leg.
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

// frequencies are those of a wording's terms in the text field.
func (rt *Retrieval) frequencies(query int) analysis.Frequencies {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.Kind == scoring.Text && l.Query == query && l.err == nil {
			return l.frequencies
		}
	}
	return analysis.Frequencies{}
}

// UnknownWords are the terms of the question that no searched text field has, nor a synonym
// of them. Where a plan needs no statistics they are asked for only if no chunk matched.
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
