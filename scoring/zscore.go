package scoring

import (
	"math"
	"slices"
)

// ZScore is (raw − mean)/deviation, by the leg's moments over the knowledge base where
// it has them, else by those of the window. An unknown raw score counts as the lowest z
// known in the window; without a deviation every z is 0.
var ZScore = newNormalizer("z_score", normalization{
	scale:      standardScale,
	everyKnown: true,
	score:      normalDistribution,
})

func standardScale(leg *Leg, window []float64) scale {
	lowest := math.NaN()
	if len(window) > 0 {
		lowest = slices.Min(window)
	}
	m := leg.Moments
	if m == nil {
		own := momentsOf(window)
		m = &own
	}
	s := scale{offset: m.Mean, unbounded: true}
	if !m.isFlat() {
		s.span = m.Deviation
	}
	if len(window) > 0 {
		s.absent = s.of(lowest)
	}
	return s
}

// normalDistribution is Φ, the probability that a standard normal variable is
// at most z.
func normalDistribution(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
