package scoring

import "math"

// linear is the weighted sum of normalised scores, with weights that sum to 1
// over the planned legs. The sum is the score; a sum of z-scores goes through
// the normal distribution function first.
type linear struct {
	legs   []Leg
	scales []scale
	normal bool
}

func newLinear(n Normalizer, w *window) *linear {
	return &linear{legs: w.legs, scales: n.scales(w), normal: n == ZScore}
}

// shareOut normalises the weights of legs to the sum 1, unless all are 0.
func shareOut(legs []Leg) {
	weights := make([]float64, len(legs))
	for i, leg := range legs {
		weights[i] = leg.Weight
	}
	whole := addUp(weights)
	for i := range legs {
		legs[i].Weight = ratio(legs[i].Weight, whole)
	}
}

func (l *linear) points(leg int, o Observation) float64 {
	return l.legs[leg].Weight * l.normalized(leg, o)
}

func (l *linear) normalized(leg int, o Observation) float64 { return l.scales[leg].of(o) }

func (l *linear) keeps(returned bool, _ float64) bool { return returned }

func (l *linear) score(sum, _ float64) float64 {
	if l.normal {
		return normalDistribution(sum)
	}
	return sum
}

// Similarity maps what a fusion shows as normalised into [0, 1]: a z-score goes
// through the normal distribution function, everything else is there already.
func (f Fusion) Similarity(normalized float64) float64 {
	if f.Method == Linear && f.Normalizer == ZScore {
		return normalDistribution(normalized)
	}
	return min(max(normalized, 0), 1)
}

// normalDistribution is Φ, the probability that a standard normal variable is
// at most z.
func normalDistribution(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
