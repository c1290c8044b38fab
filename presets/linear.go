package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin["linear"] = entry{
		plan: linear,
		description: "Weighted sum of the scores of the legs, each brought to one scale " +
			"first: 0 for the worst candidate, 1 for the best.",
		whenToUse: "To try other normalisers, or to repeat what systems with min-max do.",
	}
}

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
	p.Fusion = scoring.Fusion{Method: scoring.Linear, Normalizer: or(req.Normalizer, scoring.MinMax)}
	return p, p.Fusion.Normalizer.Validate()
}
