package retrieve

import (
	"math"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Observed holds the observations of all legs before fusion, to try other weights on. The
// chunks are the union of what the legs returned.
type Observed struct {
	// Plan is the request's plan. Its Fusion, the weights of its legs and its thresholds on scores changed nothing
	// here.
	Plan plan.Plan
	// Legs are in the order of the plan, fit for scoring.Fusion.Fuse: with moments, bounds and evidence.
	Legs []scoring.Leg
	// Shares are the factors for the planned weights of the legs for this question: from Plan.Coverage for
	// text, 1 for all others.
	Shares []float64
	// Features are the inputs of a WeightModel, by name.
	Features map[string]float64
	// Candidates have an observation of each leg.
	Candidates []scoring.Candidate
	// Others are upper bounds of the legs' scores for chunks outside the candidates, for a plan that ranks every chunk
	// jointly, whose legs were asked apart here. Nil: the search itself sees no others, or nothing is known of them.
	Others []scoring.Observation
	// Reranked is the reranker's score of each candidate, in [0, 1]; NaN for those it did not read, because no
	// weights of the legs bring them into Plan.Rerank.Window. Nil where the plan has no reranker.
	Reranked []float64
	// Apart is set if a joint ranking was taken apart: the search may find hits outside the candidates.
	Apart bool
}

// Tell fills in the observations.
func (rt *Retrieval) Tell(o *Observed) {
	o.Legs = rt.ScoringLegs()
	o.Shares = make([]float64, len(rt.Legs))
	for i := range rt.Legs {
		o.Shares[i] = 1
		if c := rt.Legs[i].weighed; c != nil {
			o.Shares[i] = c.Factor()
		}
		if by := rt.Legs[i].byQuestion; by != nil {
			o.Shares[i] *= by.Factor
		}
		if rt.centred() {
			o.Legs[i].Evidence = evidences([]*Retrieval{rt}, i)
		}
	}
	o.Features = featuresOf([]*Retrieval{rt})
	o.Candidates = rt.candidates()
	if o.Apart && !rt.centred() && rt.Method == methodExact {
		o.Others = rt.others()
	}
}

// others gives an upper bound of each leg's score for chunks that no leg returned: the last returned score, or
// nothing if it returned all that it has.
func (rt *Retrieval) others() []scoring.Observation {
	all := make([]scoring.Observation, len(rt.Legs))
	for leg := range rt.Legs {
		all[leg] = rt.Legs[leg].unobserved()
		switch rt.Legs[leg].Kind {
		case scoring.Signal:
			all[leg].Raw = 1
			continue
		case scoring.Vector:
			all[leg].Raw = math.NaN()
		case scoring.Text:
		}
		returned, least := 0, math.Inf(1)
		for i := range rt.Hits {
			if o := rt.Hits[i].Observations[leg]; o.Rank > 0 {
				returned, least = returned+1, min(least, o.Raw)
			}
		}
		if returned >= rt.Legs[leg].K {
			all[leg].Raw = least
		}
	}
	return all
}
