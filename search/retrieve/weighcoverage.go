package retrieve

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
)

// Weights tells them.
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
func (rt *Retrieval) weighByCoverage() {
	for i := range rt.Legs {
		l := &rt.Legs[i]
		if l.Kind != scoring.Text || l.err != nil {
			continue
		}
		f := l.frequencies
		if l.alike.DF != nil {
			f = l.alike
		}
		known := analysis.Known(rt.Question.In(l.Query).Parsed, f)
		if rt.Known == nil || known > *rt.Known {
			rt.Known = &known
		}
		l.weighed = &answer.Coverage{Known: known, AverageLength: f.AverageLength, Planned: l.Weight}
		if l.alike.DF != nil {
			l.weighed.Language = rt.mainLanguage()
		}
		l.Weight *= l.weighed.Factor()
	}
}
