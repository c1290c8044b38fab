package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// weighByQuestion changes the weights of text legs by the plan's model. Members are fused together.
func weighByQuestion(members []*retrieval) {
	m := members[0].Plan.WeightsBy
	if m == nil {
		return
	}
	by := m.Account(featuresOf(members))
	for _, rt := range members {
		for i := range rt.legs {
			if l := &rt.legs[i]; l.Kind == scoring.Text && l.byQuestion == nil {
				l.byQuestion, l.Weight = by, l.Weight*by.Factor
			}
		}
	}
}

// featuresOf are all features of a question, by name: of what the first text leg and the first vector leg say.
// A leg without moments says nothing.
func featuresOf(members []*retrieval) map[string]float64 {
	f, first := plan.Facts{}, members[max(0, slices.IndexFunc(members, func(rt *retrieval) bool { return rt.Err == nil }))]
	for _, term := range first.question.Parsed.Terms {
		f.Terms++
		if strings.ContainsFunc(term.Text, unicode.IsDigit) {
			f.Digits = 1
		}
	}
	for _, rt := range members {
		if rt.known != nil {
			f.Known = max(f.Known, *rt.known)
		}
	}
	for i := len(first.legs) - 1; i >= 0; i-- { // the first of a kind stays
		switch first.legs[i].Kind {
		case scoring.Text:
			f.Text = scoredBy(members, i, first.legs[i].moments)
		case scoring.Vector:
			f.Vector = scoredBy(members, i, first.legs[i].moments)
		case scoring.Signal:
		}
	}
	return f.Features()
}

// scoredBy gives the z-scores of a leg.
func scoredBy(members []*retrieval, leg int, m *scoring.Moments) plan.ZScores {
	var values []float64
	for _, rt := range members {
		values = slices.Grow(values, len(rt.Hits))
		for hit := range rt.Hits {
			values = append(values, rt.fusedBy(hit, leg))
		}
	}
	return plan.NewZScores(values, m)
}
