package scoring

import "math"

// DBSF is distribution-based score fusion as Qdrant has it: 0 is three deviations
// below the mean of what the leg returned, 1 three above it. Scores beyond are not
// cut, equal scores are all 0.5, and a chunk that the leg did not return counts as 0.
// The deviation is the sample's, √(Σ(raw − mean)²/(n − 1)).
// https://qdrant.tech/documentation/concepts/hybrid-queries/
var DBSF = newNormalizer("dbsf", normalization{scale: threeDeviations})

func threeDeviations(_ *Leg, window []float64) scale {
	m := momentsOf(window)
	if m.isFlat() {
		return scale{flat: 0.5}
	}
	n := float64(len(window))
	reach := 3 * m.Deviation * math.Sqrt(n/(n-1))
	return scale{offset: m.Mean - reach, span: 2 * reach, unbounded: true}
}
