package scoring

import "math"

// RRF is weighted reciprocal rank fusion, Σ weight/(k + rank) with ranks from
// 1 over the legs that returned the chunk (Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods", SIGIR 2009). The score is the share of what the first place in
// every planned leg would give.
var RRF = newMethod("rrf", method{
	scheme: func(f Fusion, w *window) scheme { return &rrf{legs: w.legs, k: f.RRFK} },
	scorer: shareOfFirsts,
	curve:  func(Fusion, Kind) curve { return reciprocal },
	byRank: true,
})

type rrf struct {
	legs []Leg
	k    float64
}

// shareOfFirsts divides by the sum of a chunk that is first in every leg.
func shareOfFirsts(f Fusion, _ []Kind, weights []float64) scorer {
	firsts := make([]float64, len(weights))
	for i, weight := range weights {
		firsts[i] = reciprocalRank(weight, f.RRFK, 1)
	}
	top := addUp(firsts)
	return func(sum, _ float64) float64 { return ratio(sum, top) }
}

// reciprocalRank is a leg's contribution for a rank, 0 for none.
func reciprocalRank(weight, k, rank float64) float64 {
	if rank == 0 {
		return 0
	}
	return weight / (k + rank)
}

func (r *rrf) points(leg int, o Observation) float64 {
	return reciprocalRank(r.legs[leg].Weight, r.k, float64(o.Rank))
}

func (r *rrf) normalized(_ int, o Observation) float64 {
	if o.Rank == 0 {
		return math.NaN()
	}
	return (r.k + 1) / (r.k + float64(o.Rank))
}

func (r *rrf) keeps(_ bool, sum float64) bool { return sum > 0 }
