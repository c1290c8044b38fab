package scoring

import (
	"math"
	"testing"
)

func TestTextMoments(t *testing.T) {
	// A term of idf 2 in a quarter of the chunks: m = 0.48·2.2·2 = 2.112, mean p·m,
	// variance p·1.15·m² − (p·m)² = (0.2875 − 0.0625)·m² = 0.225·m²
	quarter := TermStatistics{Share: 0.25, IDF: 2, Weight: 1}
	m, deviation := 0.48*2.2*2, math.Sqrt(0.225)*0.48*2.2*2
	f := func(mean, deviation float64, terms ...TermStatistics) {
		t.Helper()
		got := TextMoments(terms)
		if !near(got.Mean, mean) || !near(got.Deviation, deviation) {
			t.Errorf("TextMoments(%v) = %v, want %v %v", terms, got, mean, deviation)
		}
	}
	f(0.25*m, deviation, quarter)
	f(0.5*m, math.Sqrt2*deviation, quarter, quarter) // means and variances add
	f(0.5*m, 2*deviation, TermStatistics{Share: 0.25, IDF: 2, Weight: 2})
	f(0.25*m, deviation, quarter, TermStatistics{Share: 0, IDF: 9, Weight: 1}) // an unknown term adds nothing
	f(m, math.Sqrt(0.15)*m, TermStatistics{Share: 1.5, IDF: 2, Weight: 1})     // deleted chunks may still count
	f(0, 0)
}

func TestMomentsOf(t *testing.T) {
	if got, want := momentsOf([]float64{3, 1, 5}), (Moments{Mean: 3, Deviation: math.Sqrt(8.0 / 3)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
