package vector

import "math"

// Unit scales a vector to length 1. It is nil for the zero vector, which has no
// direction, and for one with a component that is no finite number.
func Unit(v []float32) []float32 {
	out := make([]float32, len(v))
	if !UnitInto(out, v) {
		return nil
	}
	return out
}

// UnitInto writes to out, as long as v and maybe v itself, what Unit gives; false
// when that is nil.
func UnitInto(out, v []float32) bool {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
		return false
	}
	factor := 1 / math.Sqrt(square)
	for i, x := range v {
		out[i] = float32(float64(x) * factor)
	}
	return true
}
