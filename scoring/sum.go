package scoring

import (
	"math"
	"slices"
)

// addUp adds values in ascending order, so that the result does not depend on the
// order they come in. It sorts values in place.
func addUp(values []float64) float64 {
	if len(values) > 2 { // two addends commute
		slices.Sort(values)
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// ratio is part/whole within [0, 1], 0 where there is no whole.
func ratio(part, whole float64) float64 {
	if !(whole > 0) {
		return 0
	}
	return clamp(part/whole, 1)
}

// clamp brings v into [0, high]; what is not a number becomes 0.
func clamp(v, high float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), high)
}
