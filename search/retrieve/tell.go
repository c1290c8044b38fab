package retrieve

import (
	"math"

	"github.com/hybridge-search/hybridge/scoring"
)

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
