package scoring

// Theoretical divides a text score by the largest that the query can have, and maps a
// cosine to (1 + cosine)/2. So it does not depend on the other chunks.
var Theoretical = newNormalizer("theoretical", normalization{
	scale:      theoreticalScale,
	comparable: sameBounds,
})

func theoreticalScale(leg *Leg, window []float64) scale {
	switch {
	case leg.Kind == Vector:
		return scale{offset: -1, span: 2}
	case leg.Bound > 0:
		return scale{span: leg.Bound}
	default:
		return minMaxScale(Text, window)
	}
}

// sameBounds compares plans of the same legs. A text leg without a bound takes
// the largest score observed, which is its own.
func sameBounds(plans [][]Leg) bool {
	for _, legs := range plans {
		for i, leg := range legs {
			if leg.Kind == Text && (leg.Bound <= 0 || leg.Bound != plans[0][i].Bound) {
				return false
			}
		}
	}
	return true
}
