package vector

import "math"

// unitRounding is how far the square of a length may be from 1 when Unit made the vector: each
// component was rounded to float32.
const unitRounding = 1.0 / (1 << 22)

// Unit scales a vector to length 1; one that has it already stays as it is, bit for bit. It
// is nil for the zero vector, which has no direction, and for one with a component that is
// no finite number.
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
	if math.Abs(square-1) <= unitRounding {
		copy(out, v)
		return true
	}
	factor := 1 / math.Sqrt(square)
	for i, x := range v {
		out[i] = float32(float64(x) * factor)
	}
	return true
}
