package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin[Default] = entry{
		plan: balanced,
		description: "Adds words and meaning on one scale; words count as far as the " +
			"text index knows those of the question.",
		whenToUse: "First choice for most texts, also where questions come in " +
			"another language than the documents.",
	}
}

// balanced adds z-scores taken over the whole knowledge base, and lets text
// count only as far as the text index knows the query's words: a question in
// another language has no words there, and its noise then has no weight.
//
//	score = 0.2·√(known · average length/134)·z(text) + 0.8·z(vector), over the sum of both weights
//
// where known is the share of the query's idf mass that the text index knows.
// In the text leg the parts of a longer word count a quarter beside the word,
// and neighbours that stay neighbours count a fifth more.
//
// The moments are known before the search, so the sum is one joint ranking.
func balanced(req *search.Request, fields []engine.Field) (search.Plan, error) {
	rules := plainText()
	rules.PartWeight, rules.Phrases, rules.PhraseSlop, rules.PhraseBoost = 0.25, true, 2, 0.2
	p, err := plan(req, fields, defaults{
		preset:     Default,
		weights:    weights{text: 0.2, vector: 0.8},
		topK:       10,
		candidates: windowed,
		text:       rules,
	})
	p.Fusion = scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore}
	p.Coverage = true
	p.Joint = true
	return p, err
}
