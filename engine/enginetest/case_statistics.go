package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

func statisticsCases() []testCase {
	return []testCase{
		{"statistics/terms", termStatistics},
		{"statistics/cosines", cosineStatistics},
		{"statistics/an empty knowledge base", emptyStatistics},
	}
}

func (b *base) statistics(req engine.StatisticsRequest) *engine.Statistics {
	b.t.Helper()
	req.KB = b.kb
	st, err := b.engine.Statistics(b.t.Context(), &req)
	if err != nil {
		b.t.Fatalf("statistics: %v", err)
	}
	if len(st.DF) != len(req.Terms) {
		b.t.Fatalf("%d document frequencies for %d terms", len(st.DF), len(req.Terms))
	}
	return st
}

func termStatistics(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	st := b.statistics(engine.StatisticsRequest{Field: engine.FieldText, Terms: []string{"fox", "nosuch", "red", "fox"}})
	if st.Docs != corpusDocs || fmt.Sprint(st.DF) != "[3 0 2 3]" || st.Vectors != 0 {
		t.Errorf("got %+v", st)
	}
	near64(t, "average length", st.AverageLength, corpusAverage, 1e-6)
}

// cosineStatistics: with fewer vectors than the sample holds the moments are
// those of all of them, also after another write.
func cosineStatistics(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 8})
	chunks := random(100, 8, 3)
	query := vectorOf(rand.New(rand.NewPCG(8, 8)), 8)
	ask := engine.StatisticsRequest{Field: engine.FieldText, VectorField: engine.FieldVector, Vector: query}
	for from := 0; from < len(chunks); from += 50 {
		b.write(chunks[from : from+50]...)
		var cosines []float64
		for _, c := range chunks[:from+50] {
			if v := c.Vectors[engine.FieldVector]; v != nil {
				cosines = append(cosines, cosine(v, query))
			}
		}
		mean, deviation := moments(cosines)
		st := b.statistics(ask)
		if st.Vectors != len(cosines) {
			t.Errorf("%d vectors, want %d", st.Vectors, len(cosines))
		}
		near64(t, "mean", st.Cosine.Mean, mean, 1e-4)
		near64(t, "deviation", st.Cosine.Deviation, deviation, 1e-2) // over n or n-1
		if again := b.statistics(ask); again.Cosine != st.Cosine {
			t.Errorf("asked twice: %+v, then %+v", st.Cosine, again.Cosine)
		}
	}
}

func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

func emptyStatistics(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	st := b.statistics(engine.StatisticsRequest{
		Field: engine.FieldText, Terms: []string{"x"}, VectorField: engine.FieldVector, Vector: []float32{1, 0},
	})
	if st.Docs != 0 || st.DF[0] != 0 || st.Vectors != 0 || math.IsNaN(st.AverageLength) ||
		st.Cosine != (scoring.Moments{}) {
		t.Errorf("got %+v", st)
	}
}
