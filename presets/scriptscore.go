package presets

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// The variants differ in the weights that suit a kind of text: documentation answers by its words,
// conversation by its meaning.
func init() {
	builtin["script_score"] = entry{
		plan: scriptScore("script_score", weights{text: 0.05, vector: 0.95}),
		description: "The classic formula over every chunk: 0.05 of the raw " +
			"keyword score plus 0.95 of cosine + 1.",
		whenToUse: "To go on with rankings made by that formula; the raw keyword score has " +
			"no upper bound and often outvotes the vectors.",
	}
	builtin["technical"] = entry{
		plan:        scriptScore("technical", weights{text: 0.3, vector: 0.7}),
		description: "The formula of script_score, with words at 0.3 and vectors at 0.7.",
		whenToUse:   "For manuals and reference texts, where exact terms decide.",
	}
	builtin["general"] = entry{
		plan:        scriptScore("general", weights{text: 0.2, vector: 0.8}),
		description: "The formula of script_score, with words at 0.2 and vectors at 0.8.",
		whenToUse:   "For mixed content, where that formula is wanted.",
	}
	builtin["conversational"] = entry{
		plan:        scriptScore("conversational", weights{text: 0.05, vector: 0.95}),
		description: "The formula of script_score, with words at 0.05 and vectors at 0.95.",
		whenToUse:   "For chat and everyday questions, which share few words with the texts.",
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
