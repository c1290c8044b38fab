package vector

import (
	"math"
	"slices"
	"testing"
)

func TestUnit(t *testing.T) {
	f := func(v, want []float32) {
		t.Helper()
		if got := Unit(v); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%v: got %v, want %v", v, got, want)
		}
	}
	huge := float32(math.MaxFloat32)
	f([]float32{3, 4}, []float32{0.6, 0.8})
	f([]float32{0, -2}, []float32{0, -1})
	f([]float32{huge, 0}, []float32{1, 0}) // its square is no float32
	f([]float32{0, 0}, nil)
	f(nil, nil)
	f([]float32{float32(math.NaN()), 1}, nil)
	f([]float32{float32(math.Inf(1)), 1}, nil)
}
