package evaluation

import (
	"math"
	"slices"
	"testing"
)

func TestAUC(t *testing.T) {
	f := func(above, below []float64, want float64) {
		t.Helper()
		if got := AUC(above, below); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v above %v: %v, want %v", above, below, got, want)
		}
	}
	f([]float64{2, 3}, []float64{0, 1}, 1)
	f([]float64{0, 1}, []float64{3, 2}, 0)
	f([]float64{1}, []float64{1}, 0.5)
	f([]float64{3, 1}, []float64{0, 2, 1}, (3+1.5)/6) // 3 is above all, 1 above 0 and level with 1
}

func TestCalibration(t *testing.T) {
	// Of weight 4: 0.2 is said twice and never true, 0.9 once and true, 1 once and true.
	bins, expected := Calibration([]Said{{0.2, false, 1}, {0.2, false, 1}, {0.9, true, 1}, {1, true, 1}})
	if want := 0.5*0.2 + 0.5*0.05; math.Abs(expected-want) > 1e-12 {
		t.Errorf("error %v, want %v", expected, want)
	}
	if b := bins[2]; b.Share != 0.5 || b.True != 0 || b.Said != 0.2 {
		t.Errorf("the bin of 0.2 is %+v; want b.Share 0.5 and b.True 0 and b.Said 0.2", b)
	}
	if b := bins[9]; b.Share != 0.5 || b.True != 1 || math.Abs(b.Said-0.95) > 1e-12 {
		t.Errorf("the bin of 0.9 and 1 is %+v; want b.Share 0.5 and b.True 1 and math.Abs(b.Said - 0.95) at most 1e-12", b)
	}
	// What counts nothing changes nothing.
	if _, same := Calibration([]Said{{0.2, false, 2}, {0.9, true, 1}, {1, true, 1}, {0.5, true, 0}}); math.Abs(same-expected) > 1e-12 {
		t.Errorf("by weights the error is %v, want %v", same, expected)
	}
}

// TestLogistic finds the constants again that shares were made with.
func TestLogistic(t *testing.T) {
	want := []float64{3, -2, 0.5}
	var examples []Example
	for x := -1.0; x <= 1; x += 0.25 {
		for y := -1.0; y <= 1; y += 0.5 {
			p := 1 / (1 + math.Exp(-(want[0]*x + want[1]*y + want[2])))
			examples = append(examples, Example{[]float64{x, y}, true, p}, Example{[]float64{x, y}, false, 1 - p})
		}
	}
	got := Logistic(examples)
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }) {
		t.Errorf("%v, want %v", got, want)
	}
	if p := Probability(want, []float64{0, 0.25}); p != 0.5 {
		t.Errorf("at 0 it says %v, want 0.5", p)
	}
}
