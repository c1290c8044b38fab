package vector

import "math"

// Unit scales a vector to length 1. It is nil for the zero vector, which has no
// direction, and for one with a component that is no finite number.
func Unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
		return nil
	}
	out := make([]float32, len(v))
	factor := 1 / math.Sqrt(square)
	for i, x := range v {
		out[i] = float32(float64(x) * factor)
	}
	return out
}
