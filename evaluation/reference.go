package evaluation

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// references are the textbook formulas without what the presets add: plain terms, any of
// which may match, and no phrases, synonyms or thresholds. They show that the formulas are
// right, and a preset has to beat them.
func references() map[string]search.Planner {
	return map[string]search.Planner{
		// Weighted reciprocal rank fusion, the best 15 of each leg.
		"reference_rrf": reference(search.Plan{
			Fusion: scoring.Fusion{Method: scoring.RRF, RRFK: scoring.DefaultRRFK}, Candidates: 15,
		}, 0.4),
		// 0.05·_score + 0.95·(cosine + 1), over every chunk.
		"reference_script_score": reference(search.Plan{
			Fusion: scoring.Fusion{Method: scoring.ScriptScore}, Candidates: depth, Joint: true,
		}, 0.05),
		// The weighted sum of scores from 0 to 1, over the best 100 of each leg.
		"reference_min_max": reference(search.Plan{
			Fusion: scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.MinMax}, Candidates: depth,
		}, 0.3),
	}
}

// reference plans a text leg and a vector leg; text is the weight of the text leg.
func reference(plan search.Plan, text float64) search.Planner {
	return func(req *search.Request, fields []engine.Field) (search.Plan, error) {
		p := plan
		p.Preset, p.TopK = req.Preset, min(*req.TopK, plan.Candidates)
		p.Legs = make([]search.Leg, 0, len(fields))
		for _, f := range fields {
			weight := text
			if f.Kind == scoring.Vector {
				weight = 1 - text
			}
			p.Legs = append(p.Legs, search.Leg{
				Name: f.Name, Kind: f.Kind, Field: f.Name, K: p.Candidates, Weight: weight,
			})
		}
		return p, nil
	}
}
