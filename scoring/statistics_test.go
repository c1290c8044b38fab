package scoring

import (
	"math"
	"testing"
)

func TestIDF(t *testing.T) {
	f := func(docs, df int, want float64) {
		t.Helper()
		if got := IDF(docs, df); !near(got, want) {
			t.Errorf("IDF(%d, %d) = %v, want %v", docs, df, got, want)
		}
	}
	f(10, 2, math.Log(1+8.5/2.5))
	f(10, 0, math.Log(1+10.5/0.5)) // a term nobody knows
	f(10, 10, math.Log(1+0.5/10.5))
	f(10, 99, IDF(10, 10)) // deleted documents may still count
	f(10, -1, IDF(10, 0))
	f(0, 0, math.Log(2))
	f(-1, 5, math.Log(2))
}

func TestTextMoments(t *testing.T) {
	// docs 4, df 1: idf = ln(1 + 3.5/1.5) = ln(10/3); p = 0.25
	// m = 0.48·2.2·idf; mean p·m; variance p·1.15·m² − (p·m)² = (0.2875 − 0.0625)·m² = 0.225·m²
	m := 0.48 * 2.2 * math.Log(10.0/3)
	f := func(docs int, df []int, weights []float64, mean, deviation float64) {
		t.Helper()
		got := TextMoments(docs, df, weights)
		if !near(got.Mean, mean) || !near(got.Deviation, deviation) {
			t.Errorf("TextMoments(%d, %v, %v) = %v, want %v %v", docs, df, weights, got, mean, deviation)
		}
	}
	f(4, []int{1}, nil, 0.25*m, math.Sqrt(0.225)*m)
	f(4, []int{1, 1}, nil, 0.5*m, math.Sqrt(2*0.225)*m)           // means and variances add
	f(4, []int{1}, []float64{2}, 0.5*m, 2*math.Sqrt(0.225)*m)     // a weight scales
	f(4, []int{1, 0}, []float64{1}, 0.25*m, math.Sqrt(0.225)*m)   // an unknown term adds nothing
	f(4, []int{1, 1}, []float64{1, -3}, 0.25*m, 0.474341649025*m) // √0.225; a bad weight is 0
	f(4, nil, nil, 0, 0)
	f(0, []int{1}, nil, 0, 0)
}

func TestKnown(t *testing.T) {
	f := func(df []int, weights []float64, want float64) {
		t.Helper()
		if got := Known(10, df, weights); !near(got, want) {
			t.Errorf("Known(10, %v, %v) = %v, want %v", df, weights, got, want)
		}
	}
	seen, unseen := math.Log(1+8.5/2.5), math.Log(22)
	f([]int{2, 0}, nil, seen/(seen+unseen))
	f([]int{2, 0}, []float64{1, 0.5}, seen/(seen+unseen/2))
	f([]int{2, 2}, nil, 1)
	f([]int{0, 0}, nil, 0)
	f(nil, nil, 0)
}

func TestTextBound(t *testing.T) {
	if got, want := TextBound(10, []int{2, 0}, []float64{0.5}), 2.2*(0.5*math.Log(4.4)+math.Log(22)); !near(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCosineMoments(t *testing.T) {
	nan := float32(math.NaN())
	sample := [][]float32{{2, 0}, {0, 3}, {-1, 0}, {0, 0}, {1}, {nan, 1}, nil}
	// cosines with (1, 0): 1, 0, −1; mean 0, deviation √(2/3)
	if got := CosineMoments([]float32{5, 0}, sample); !near(got.Mean, 0) || !near(got.Deviation, math.Sqrt(2.0/3)) {
		t.Errorf("got %+v, want 0 and √(2/3)", got)
	}
	for _, query := range [][]float32{nil, {0, 0}, {1, 2, 3}} {
		if got := CosineMoments(query, sample); got != (Moments{}) {
			t.Errorf("query %v: %+v, want none", query, got)
		}
	}
}

func TestMomentsOf(t *testing.T) {
	values := []float64{3, math.Inf(1), 1, unknown, 5}
	if got, want := MomentsOf(values), (Moments{Mean: 3, Deviation: math.Sqrt(8.0 / 3)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if values[0] != 3 {
		t.Error("the values were reordered")
	}
}
