package retrieve

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// weighByQuestion changes the weights of text legs by the plan's model. Members are fused together.
func weighByQuestion(members []*Retrieval) {
	m := members[0].Plan.WeightsBy
	if m == nil {
		return
	}
	by := m.Account(featuresOf(members))
	for _, rt := range members {
		for i := range rt.Legs {
			if l := &rt.Legs[i]; l.Kind == scoring.Text {
				l.byQuestion, l.Weight = by, l.Weight*by.Factor
			}
		}
	}
}

// featuresOf gives all features of a question, by name, from the first text leg and the first vector leg.
// A leg without moments contributes none.
func featuresOf(members []*Retrieval) map[string]float64 {
	f, first := plan.Facts{}, members[max(0, slices.IndexFunc(members, func(rt *Retrieval) bool { return rt.Err == nil }))]
	for _, term := range first.Question.Parsed.Terms {
		f.Terms++
		if strings.ContainsFunc(term.Text, unicode.IsDigit) {
			f.Digits = 1
		}
	}
	for _, rt := range members {
		if rt.Known != nil {
			f.Known = max(f.Known, *rt.Known)
		}
	}
	for i := len(first.Legs) - 1; i >= 0; i-- { // the first of a kind stays
		switch first.Legs[i].Kind {
		case scoring.Text:
			f.Text = scoredBy(members, i, first.Legs[i].moments)
		case scoring.Vector:
			f.Vector = scoredBy(members, i, first.Legs[i].moments)
		case scoring.Signal:
		}
	}
	return f.Features()
}

// scoredBy gives the z-scores of a leg.
func scoredBy(members []*Retrieval, leg int, m *scoring.Moments) plan.ZScores {
	var values []float64
	for _, rt := range members {
		values = slices.Grow(values, len(rt.Hits))
		for hit := range rt.Hits {
			values = append(values, rt.fusedBy(hit, leg))
		}
	}
	return plan.NewZScores(values, m)
}

// Weights lists the weights of all legs.
func (rt *Retrieval) Weights() []answer.WeightAccount {
	all := make([]answer.WeightAccount, len(rt.Legs))
	for i := range rt.Legs {
		l := &rt.Legs[i]
		all[i] = answer.WeightAccount{
			KnowledgeBase: rt.KB.ID, Leg: l.Name, Weight: l.Weight, Rule: "planned",
			Coverage: l.weighed, ByQuestion: l.byQuestion,
		}
		if l.weighed != nil {
			all[i].Rule = "coverage"
		}
	}
	return all
}

// weighByCoverage multiplies each text leg's weight by
//
//	√(known · average length / 134)
//
// where known is the share of the query's idf mass that the text index knows:
// words in another language are none, and in short chunks the few words that
// match say less. Measured on eleven retrieval sets, see docs/relevance.md.
func (p *prepared) weighByCoverage() {
	for i := range p.Legs {
		l := &p.Legs[i]
		if l.Kind != scoring.Text || l.err != nil {
			continue
		}
		f := l.frequencies
		if l.sameLanguage.DF != nil {
			f = l.sameLanguage
		}
		known := analysis.Known(p.Question.In(l.Query).Parsed, f)
		if p.Known == nil || known > *p.Known {
			p.Known = &known
		}
		l.weighed = &answer.Coverage{Known: known, AverageLength: f.AverageLength, Planned: l.Weight}
		if l.sameLanguage.DF != nil {
			l.weighed.Language = p.mainLanguage()
		}
		l.Weight *= l.weighed.Factor()
	}
}
