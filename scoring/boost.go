package scoring

import (
	"cmp"
	"math"
	"slices"
)

// Boost ranks chunks anew after their sources were boosted, each by a number in (0, 1] at
// the place of the source: z-scores rise and fall by its logarithm, all other scores are
// multiplied by it. Both are the same ranking where all boosts are equal, and raise the
// places of a source's chunks with its boost. Sums stay what the legs gave; ties stay in
// their order.
func (f Fusion) Boost(ranking []Fused, boosts []float64) []Fused {
	type boosted struct {
		Fused
		key float64
	}
	all := make([]boosted, len(ranking))
	for i, x := range ranking {
		b := boosts[x.Source]
		switch {
		case f.Method == Linear && f.Normalizer == ZScore: // its scores near 1 are hardly apart
			all[i] = boosted{x, x.Raw + math.Log(b)}
			if b < 1 {
				all[i].Score = normalDistribution(all[i].key)
			}
		default:
			all[i] = boosted{x, x.Score * b}
			all[i].Score = all[i].key
		}
	}
	slices.SortStableFunc(all, func(a, b boosted) int { return cmp.Compare(b.key, a.key) })
	ranked, last := make([]Fused, len(all)), 1.0
	for i := range all {
		ranked[i] = all[i].Fused
		last = min(last, ranked[i].Score) // rounding could lift it
		ranked[i].Score = last
	}
	return ranked
}
