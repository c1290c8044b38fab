package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// linear is the weighted sum of the legs' normalised scores; min_max unless
// the request names another normaliser.
func linear(req *search.Request, fields []engine.Field) (search.Plan, error) {
	p, err := plan(req, fields, defaults{
		preset:     "linear",
		weights:    weights{text: 0.3, vector: 0.7},
		topK:       10,
		candidates: windowed,
		text:       plainText(),
	})
	if err != nil {
		return p, err
	}
	normalizer := scoring.Normalizer(or(req.Normalizer, string(scoring.MinMax)))
	switch normalizer {
	case scoring.MinMax, scoring.L2, scoring.ZScore, scoring.Theoretical:
	default:
		return p, fault.Invalid("normalizer", string(normalizer), "min_max, l2, z_score or theoretical")
	}
	p.Fusion = scoring.Fusion{Method: scoring.Linear, Normalizer: normalizer}
	return p, nil
}
