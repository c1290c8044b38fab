package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

func statisticsCases() []testCase {
	return []testCase{
		{"statistics/terms", termStatistics},
		{"statistics/cosines", cosineStatistics},
		{"statistics/centroids", centroids},
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

// centroids: one for each language that the metadata name, whatever they name beside it.
func centroids(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	said := func(id string, tag any, x, y float32) engine.Chunk {
		c := passage(id, "word", x, y)
		c.Metadata = map[string]any{engine.MetadataLanguage: tag, "language_of_title": "fr"}
		return c
	}
	b.write(
		said("a", "en", 1, 0), said("b", "en-GB", 0, 3), said("c", "zh", 0.6, 0.8),
		said("d", "English", 0, -1), said("e", 7.0, 0, -1), passage("f", "word", -1, 0),
	)
	all, err := b.engine.Centroids(t.Context(), &engine.CentroidsRequest{KB: b.kb, VectorField: engine.FieldVector})
	if err != nil {
		t.Fatal(err)
	}
	if all.Chunks != 6 {
		t.Errorf("%d chunks have a vector, want 6", all.Chunks)
	}
	got := all.ByLanguage
	want := []engine.Centroid{
		{Language: "", Chunks: 3, IDs: []string{"d", "e", "f"}, Mean: []float32{-1. / 3, -2. / 3}},
		{Language: "en", Chunks: 2, IDs: []string{"a", "b"}, Mean: []float32{0.5, 0.5}},
		{Language: "zh", Chunks: 1, IDs: []string{"c"}, Mean: []float32{0.6, 0.8}},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i, w := range want {
		slices.Sort(got[i].IDs)
		if got[i].Language != w.Language || got[i].Chunks != w.Chunks || !slices.Equal(got[i].IDs, w.IDs) {
			t.Errorf("%+v, want %+v", got[i], w)
		}
		for j := range w.Mean {
			near64(t, "mean of "+w.Language, float64(got[i].Mean[j]), float64(w.Mean[j]), 1e-3)
		}
	}
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
	none, err := b.engine.Centroids(t.Context(), &engine.CentroidsRequest{KB: b.kb, VectorField: engine.FieldVector})
	if err != nil || none.Chunks > 0 || len(none.ByLanguage) > 0 {
		t.Errorf("centroids %+v, %v; want none", none, err)
	}
}
