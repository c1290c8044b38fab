package presets

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// scriptScoreVariants are the weights that suit a kind of text: documentation
// answers by its words, conversation by its meaning.
var scriptScoreVariants = map[string]weights{
	"script_score":   {text: 0.05, vector: 0.95},
	"technical":      {text: 0.3, vector: 0.7},
	"general":        {text: 0.2, vector: 0.8},
	"conversational": {text: 0.05, vector: 0.95},
}

func init() {
	for name, weights := range scriptScoreVariants {
		builtin[name] = scriptScore(name, weights)
	}
}

// scriptScore is the classic formula text_weight·_score + vector_weight·(cosine + 1)
// over every chunk, with a text query of weighted terms, synonyms and phrases.
func scriptScore(name string, w weights) search.Planner {
	relative, candidates := 0.2, fixed(1024)
	return func(req *search.Request, fields []engine.Field) (search.Plan, error) {
		p, err := plan(req, fields, defaults{
			preset:     name,
			weights:    w,
			topK:       6,
			candidates: candidates,
			threshold:  search.Threshold{Relative: &relative},
			text: analysis.Rules{
				Weighting:    analysis.TFIDF,
				Minimum:      analysis.Minimum{Value: 30, Percent: true},
				Phrases:      true,
				PhraseSlop:   2,
				PhraseBoost:  1.5,
				SynonymBoost: synonymBoost,
			},
		})
		p.Fusion = scoring.Fusion{Method: scoring.ScriptScore}
		if req.Pivot != nil {
			p.Fusion.Pivot, p.Fusion.Saturated = *req.Pivot, true
		}
		p.Joint = true
		if or(req.TextRequired, false) {
			p.TextRequired = true
			p.Relaxations = []analysis.Minimum{{Value: 10, Percent: true}, {}}
		}
		return p, err
	}
}
