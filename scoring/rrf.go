package scoring

import "math"

// RRF is weighted reciprocal rank fusion, Σ weight/(k + rank) with ranks from
// 1 over the legs that returned the chunk (Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods", SIGIR 2009). The score is the share of what the first place in
// every planned leg would give.
var RRF = newMethod("rrf", method{
	scheme: newRRF,
	byRank: true,
})

type rrf struct {
	legs []Leg
	k    float64
	top  float64
}

func newRRF(f Fusion, w *window) scheme {
	firsts := make([]float64, len(w.legs))
	for i := range w.legs {
		firsts[i] = w.legs[i].Weight / (f.RRFK + 1)
	}
	return &rrf{legs: w.legs, k: f.RRFK, top: addUp(firsts)}
}

func (r *rrf) points(leg int, o Observation) float64 {
	if o.Rank == 0 {
		return 0
	}
	return r.legs[leg].Weight / (r.k + float64(o.Rank))
}

func (r *rrf) normalized(_ int, o Observation) float64 {
	if o.Rank == 0 {
		return math.NaN()
	}
	return (r.k + 1) / (r.k + float64(o.Rank))
}

func (r *rrf) keeps(_ bool, sum float64) bool { return sum > 0 }

func (r *rrf) score(sum, _ float64) float64 { return ratio(sum, r.top) }
