package retrieve

import (
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Observed is what the legs said of a question before anything was fused: what to try other weights on. The
// chunks are the union of what the legs returned.
type Observed struct {
	// Plan is that of the request. Its Fusion, the weights of its legs and its thresholds on scores changed nothing
	// here.
	Plan plan.Plan
	// Legs are in the order of the plan, fit for scoring.Fusion.Fuse: with moments, bounds and evidence.
	Legs []scoring.Leg
	// Shares is what the planned weight of each leg is multiplied by for this question: what Plan.Coverage says of
	// text, 1 of all others.
	Shares []float64
	// Features are what a WeightModel may look at, by name.
	Features map[string]float64
	// Candidates have an observation of each leg.
	Candidates []scoring.Candidate
	// Others is what the legs say at most of chunks that are not among the candidates, of a plan that ranks every chunk
	// jointly, whose legs were asked apart here. Nil: the search itself sees no others, or nothing is known of them.
	Others []scoring.Observation
	// Reranked is what the plan's reranker said of each candidate, in [0, 1]; NaN of those that it did not read, which no
	// weights of the legs bring into Plan.Rerank.Window. Nil where the plan has no reranker.
	Reranked []float64
	// Apart is set where a joint ranking was taken apart: the search may find what is not among the candidates.
	Apart bool
}
