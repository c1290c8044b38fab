package evaluation_test

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestIntervalOfNothing(t *testing.T) {
	near(t, "interval of nothing", evaluation.Bootstrap(nil).Mean, 0)
}

func TestBootstrapHoldsTheMean(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i%4) / 4
	}
	interval := evaluation.Bootstrap(values)
	near(t, "mean", interval.Mean, 0.375)
	if interval.Low >= interval.Mean || interval.High <= interval.Mean || interval.High-interval.Low > 0.1 {
		t.Errorf("interval %+v should hold the mean closely", interval)
	}
	if again := evaluation.Bootstrap(values); again != interval {
		t.Errorf("the same values gave %+v, then %+v", interval, again)
	}
}

func TestPairedTest(t *testing.T) {
	same := make([]float64, 50)
	better := make([]float64, 50)
	for i := range better {
		better[i] = same[i] + 0.1
	}
	if p := evaluation.PairedTest(same, same); p < 0.99 {
		t.Errorf("equal systems: p = %v, want 1", p)
	}
	if p := evaluation.PairedTest(better, same); p > 0.001 {
		t.Errorf("always better: p = %v, want under 0.001", p)
	}
	// Of the eight ways to swap three pairs two are as extreme, one on each side.
	for _, p := range []float64{
		evaluation.PairedTest([]float64{1, 1, 1}, make([]float64, 3)), evaluation.PairedTest(make([]float64, 3), []float64{1, 1, 1}),
	} {
		if math.Abs(p-0.25) > 0.02 {
			t.Errorf("three of three better: p = %v, want 1/4", p)
		}
	}
}

func TestEffect(t *testing.T) {
	near(t, "one", evaluation.Effect([]float64{1}), 0)
	near(t, "the same", evaluation.Effect([]float64{0.1, 0.1, 0.1}), 0)
	near(t, "spread", evaluation.Effect([]float64{1, 2, 3}), 2) // mean 2, deviation 1
}

// TestHolm has the example of Holm's paper's kind: the smallest p counts times their number, and none is smaller than
// one before it.
func TestHolm(t *testing.T) {
	got := evaluation.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "p", got[i], want)
	}
	near(t, "never above 1", evaluation.Holm([]float64{0.9, 0.8})[1], 1)
}
