package vector

import (
	"math"
	"math/rand/v2"
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

// What Unit made stays as it is, so that a vector may go from store to store.
func TestUnitTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for dims := range 400 {
		v := make([]float32, dims+1)
		for i := range v {
			v[i] = float32(r.NormFloat64() * math.Pow(10, 4*r.NormFloat64()))
		}
		if once := Unit(v); !slices.Equal(Unit(once), once) {
			t.Errorf("%d dimensions: %v changed", len(v), once)
		}
	}
}
