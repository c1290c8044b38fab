package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin[string(scoring.Text)] = entry{
		plan:        single(scoring.Text),
		description: "Ranks by words alone (BM25): what shares no word with the question is not found.",
		whenToUse:   "For exact names and codes, without an embedding model, or to compare.",
	}
	builtin[string(scoring.Vector)] = entry{
		plan: single(scoring.Vector),
		description: "Ranks by meaning alone: the vectors nearest to that of the " +
			"question, whatever their words.",
		whenToUse: "For questions that are worded otherwise than the documents, or to compare.",
	}
}

// single ranks by one kind of leg alone: the presets text and vector.
func single(kind scoring.Kind) search.Planner {
	return func(req *search.Request, fields []engine.Field) (search.Plan, error) {
		asked := *req
		asked.Weights = nil // one kind of leg has nothing to weigh against
		p, err := plan(&asked, fields, defaults{
			preset:     string(kind),
			weights:    weights{text: 1, vector: 1},
			topK:       10,
			candidates: windowed,
			text:       plainText(),
		})
		if err != nil {
			return p, err
		}
		p.Legs, err = only(kind, p.Legs)
		p.Fusion = singleFusion(p.Legs)
		p.Fusion.Pivot = or(req.Pivot, scoring.DefaultPivot)
		return p, err
	}
}

// singleFusion ranks by one leg as it is; several fields of one kind, as
// question-answer knowledge bases have them, by reciprocal rank.
func singleFusion(legs []search.Leg) scoring.Fusion {
	if len(legs) > 1 {
		return scoring.Fusion{Method: scoring.RRF, RRFK: scoring.DefaultRRFK}
	}
	return scoring.Fusion{Method: scoring.Single}
}
