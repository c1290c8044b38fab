package retrieve

import (
	"math"

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

// Tell says what was found.
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
	o.Candidates = make([]scoring.Candidate, len(rt.Hits))
	for i := range rt.Hits {
		o.Candidates[i] = rt.Hits[i].Candidate
	}
	if o.Apart && !rt.centred() && rt.Method == methodExact {
		o.Others = rt.others()
	}
}

// others is what each leg says at most of chunks that no leg returned: as much as of the last that it returned, and
// nothing where it returned all that it has.
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
