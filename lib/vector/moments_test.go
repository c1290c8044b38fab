package vector

import (
	"math"
	"slices"
	"testing"
)

func TestMoments(t *testing.T) {
	f := func(unit, sample []float32, mean, deviation float64) {
		t.Helper()
		m, d := Moments(unit, sample)
		if math.Abs(m-mean) > 1e-7 || math.Abs(d-deviation) > 1e-7 {
			t.Errorf("got %v and %v, want %v and %v", m, d, mean, deviation)
		}
	}
	f([]float32{1, 0}, nil, 0, 0)
	f(nil, nil, 0, 0)
	f([]float32{1, 0}, []float32{1, 0, 0, 1, -1, 0, 0, -1}, 0, math.Sqrt(0.5))
	f([]float32{0.6, 0.8}, []float32{0.6, 0.8, 1, 0}, 0.8, 0.2)
}

// TestMomentsAreOfCosines: what rounding puts beyond 1 counts as 1.
func TestMomentsAreOfCosines(t *testing.T) {
	unit := Unit([]float32{1, 0, 0})
	for i := 0; Dot(unit, unit) <= 1; i++ {
		unit = Unit([]float32{float32(i), 7, 3})
	}
	if mean, deviation := Moments(unit, slices.Repeat(unit, 5)); mean != 1 || deviation != 0 {
		t.Errorf("got %v and %v, want 1 and 0", mean, deviation)
	}
}
