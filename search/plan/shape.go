package plan

import (
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// NeedsStatistics reports whether anything in the plan depends on what the
// knowledge base holds.
func (p *Plan) NeedsStatistics() bool {
	return p.Coverage || p.Text.Weighting == analysis.TFIDF ||
		p.Fusion.Normalizer == scoring.ZScore || p.Fusion.Normalizer == scoring.Theoretical
}

// WeighBy lets a model decide the weight of words for each question. The plan must fuse z-scores of text and vectors
// (fault.InvalidArgument); it asks the legs apart then, for what they say of each other's best. A plan of one kind of
// legs stays as it is.
func (p *Plan) WeighBy(m *WeightModel) error {
	has := func(kind scoring.Kind) bool {
		return slices.ContainsFunc(p.Legs, func(l Leg) bool { return l.Kind == kind })
	}
	if m == nil || has(scoring.Text) != has(scoring.Vector) {
		return nil
	}
	if p.Fusion.Method != scoring.Linear || p.Fusion.Normalizer != scoring.ZScore {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "weights_by",
			Detail: "weights_by needs a preset that fuses z-scores: balanced, or linear with normalizer z_score",
		}
	}
	const least = 100 // what a joint ranking has beyond is behind in both legs
	for i := range p.Legs {
		p.Legs[i].K = max(p.Legs[i].K, least)
	}
	p.WeightsBy, p.Joint = m, false
	return nil
}

// MaxObserved is how many hits of each leg may be observed.
const MaxObserved = 200

// TakeApart asks for the legs of a joint ranking each by itself.
func (p *Plan) TakeApart() {
	if !p.Joint {
		return
	}
	p.Joint = false
	for i := range p.Legs {
		p.Legs[i].K = MaxObserved
	}
}

// FusesAlone refuses a request whose answer follows from more than what its legs say of a chunk.
func (p *Plan) FusesAlone(req *Request) error {
	t := &p.Threshold
	rewritten := p.Rewrite != nil && p.Rewrite.Texts() > 0
	for _, asked := range []struct {
		field string
		value any
		is    bool
	}{
		{"everything", true, len(p.Legs) == 0},
		{"queries", fault.Length(len(req.Queries)), len(req.Queries) > 0},
		{"rewrite", true, rewritten},
		{"preset", p.Preset, p.SecondStage != nil || len(p.Distinct) > 0},
		{"diversity", p.Diversity, p.Diversity > 0},
		{"group_by", p.GroupBy, p.GroupBy != ""},
		{"text_required", true, p.TextRequired},
		{"return", p.Return, p.Return != ""},
		{"copies", req.Copies, req.Copies == CopiesFold},
		{"threshold.relevance", true, t.ByRelevance()},
		{"threshold.text", true, t.Text != nil},
		{"threshold.vector", true, t.Vector != nil},
	} {
		if asked.is {
			return fault.Invalid(asked.field, asked.value, "left out: what comes before or after the fusion cannot be observed")
		}
	}
	return nil
}
