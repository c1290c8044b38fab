package presets

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin["rrf"] = entry{
		plan: reciprocalRank,
		description: "Reciprocal rank fusion: only the places in the rankings count, " +
			"and vectors a little more than words.",
		whenToUse: "Where scores of the legs cannot be compared, or to repeat what other systems do; " +
			"less for questions in another language than the documents.",
	}
}

// reciprocalRank is weighted reciprocal rank fusion of one text and one vector
// leg with top_k x 3 candidates each:
//
//	score = Σ weight/(k + rank),   k = 60, ranks from 1
//
// Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
// individual Rank Learning Methods", SIGIR 2009. With use_rerank: false the
// vector results are the answer as they are.
func reciprocalRank(req *search.Request, fields []engine.Field) (search.Plan, error) {
	p, err := plan(req, fields, defaults{
		preset:     "rrf",
		weights:    weights{text: 0.4, vector: 0.6},
		topK:       5,
		candidates: func(topK int) int { return min(3*topK, search.MaxCandidates) },
		text:       plainText(),
	})
	if err != nil {
		return p, err
	}
	if !or(req.UseRerank, true) {
		p.Legs, err = only(scoring.Vector, p.Legs)
		p.Fusion = singleFusion(p.Legs)
		return p, err
	}
	p.Fusion = scoring.Fusion{Method: scoring.RRF, RRFK: or(req.RRFK, scoring.DefaultRRFK)}
	return p, nil
}
