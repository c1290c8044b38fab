package scoring

import (
	"math"
	"slices"
)

// addUp adds values in ascending order, so that the result does not depend on the
// order they come in. It sorts values in place; they are few, and numbers.
func addUp(values []float64) float64 {
	for i := 1; i < len(values); i++ {
		for j := i; j > 0 && values[j] < values[j-1]; j-- {
			values[j], values[j-1] = values[j-1], values[j]
		}
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// addUpAll adds many values with a result that does not depend on their order,
// mostly without sorting: it rounds each to a multiple of a unit so large that the
// sum of the rounded is exact, and does the same with what the rounding left. Of n
// values, less than n³·2⁻¹⁰⁰ of the largest is lost then (Demmel and Nguyen, "Fast
// Reproducible Floating-Point Summation", ARITH 2013). It may reorder the values.
func addUpAll(values []float64) float64 {
	largest := 0.0
	for _, v := range values {
		if v = math.Abs(v); v > largest {
			largest = v
		}
	}
	if !(largest > 0x1p-800 && largest < 0x1p900) {
		slices.Sort(values) // the units would not be normal numbers
		return addUp(values)
	}
	n := float64(len(values))
	coarse := rounder(largest * n)
	fine := rounder(coarse * n * 0x1p-51)
	high, low := 0.0, 0.0
	for _, v := range values {
		rounded := (coarse + v) - coarse
		high += rounded
		low += (fine + (v - rounded)) - fine
	}
	return high + low
}

// rounder is a number that rounds what is added to it, up to the bound, to its own
// last place: the addition does not leave its binade.
func rounder(bound float64) float64 {
	_, exponent := math.Frexp(bound)
	return math.Ldexp(1.5, exponent+1)
}

// ratio is part/whole within [0, 1], 0 where there is no whole.
func ratio(part, whole float64) float64 {
	if !(whole > 0) {
		return 0
	}
	return clamp(part/whole, 1)
}

// clamp brings v into [0, high]; NaN becomes 0.
func clamp(v, high float64) float64 {
	switch {
	case !(v > 0):
		return 0
	case v > high:
		return high
	default:
		return v
	}
}
