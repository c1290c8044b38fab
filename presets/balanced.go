package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// balanced adds z-scores taken over the whole knowledge base, and lets text
// count only as far as the text index knows the query's words: a question in
// another language has no words there, and its noise then has no weight.
//
//	score = w·z(text) + (1 - w)·z(vector),   w = 0.25 · known idf mass / idf mass of the query
//
// The moments are known before the search, so the sum is one joint ranking.
func balanced(req *search.Request, fields []engine.Field) (search.Plan, error) {
	p, err := plan(req, fields, defaults{
		preset:     Default,
		weights:    weights{text: 0.25, vector: 0.75},
		topK:       10,
		candidates: fixed(window),
		text:       plainText(),
	})
	p.Fusion = scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore}
	p.Coverage = true
	p.Joint = true
	return p, err
}
