package enginetest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
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

func exactCases() []testCase {
	return []testCase{
		{"exact/legs, sums and moments are over every vector", exactAnswers},
		{"exact/a zero vector and no vectors", exactNothing},
	}
}

// beyondTheSample are more vectors than engines take the moments of cosines over.
const beyondTheSample = 700

// exactAnswers: whatever an engine approximates, an exact answer follows from all cosines in float64, with a
// filter too; the sample names chunks that there are.
func exactAnswers(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 8})
	rng := rand.New(rand.NewPCG(11, 11))
	chunks := make([]engine.Chunk, beyondTheSample)
	for i := range chunks {
		chunks[i] = passage(fmt.Sprintf("c%04d", i), "word", vectorOf(rng, 8)...)
		chunks[i].Metadata = map[string]any{"odd": i%2 == 1}
	}
	b.write(chunks...)
	query := vectorOf(rng, 8)
	var cosines []float64
	for i := range chunks {
		cosines = append(cosines, cosine(chunks[i].Vectors[engine.FieldVector], query))
	}
	odd := engine.Filter{Conditions: []filter.Condition{{Field: "odd", In: []filter.Value{{V: true}}}}}
	best := func(only func(i int) bool) []string {
		var order []int
		for i := range chunks {
			if only(i) {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(cosines[j], cosines[i]) })
		ids := make([]string, 0, 20)
		for _, i := range order[:20] {
			ids = append(ids, chunks[i].ID)
		}
		return ids
	}
	for _, c := range []struct {
		filter engine.Filter
		want   []string
	}{{want: best(func(int) bool { return true })}, {odd, best(func(i int) bool { return i%2 == 1 })}} {
		req := engine.Request{Exact: true, Legs: []engine.Leg{near(20, query...)}, Filter: c.filter}
		same(t, "leg", ranking(b.search(req), 0), c.want)
		req.Sum = &engine.Sum{Candidates: 20, Weights: []float64{1}}
		result := b.search(req)
		same(t, "sum", hitIDs(result.Hits), c.want)
		if result.Method != "exact" {
			t.Errorf("method %s", result.Method)
		}
	}
	mean, deviation := moments(cosines)
	st := b.statistics(engine.StatisticsRequest{VectorField: engine.FieldVector, Vector: query, Exact: true})
	near64(t, "mean", st.Cosine.Mean, mean, 1e-5)
	near64(t, "deviation", st.Cosine.Deviation, deviation, 1e-5)
	drawn, err := b.engine.Centroids(t.Context(), &engine.CentroidsRequest{KB: b.kb, VectorField: engine.FieldVector})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(drawn.Sample)
	known := func(id string) bool {
		return slices.ContainsFunc(chunks, func(c engine.Chunk) bool { return c.ID == id })
	}
	strange := slices.ContainsFunc(drawn.Sample, func(id string) bool { return !known(id) })
	if n := len(slices.Compact(drawn.Sample)); n != 500 || strange {
		t.Errorf("%d chunks are in the sample, want 500 that exist: %s", n, strings.Join(drawn.Sample[:min(n, 5)], " "))
	}
}

func exactNothing(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	ask := engine.StatisticsRequest{VectorField: engine.FieldVector, Vector: []float32{1, 0}, Exact: true}
	if st := b.statistics(ask); st.Cosine.Mean != 0 || st.Cosine.Deviation != 0 {
		t.Errorf("of no vectors: %+v", st)
	}
	b.write(passage("a", "word", 1, 0), passage("b", "word"))
	ask.Vector = []float32{0, 0}
	if st := b.statistics(ask); st.Cosine.Mean != 0 || st.Cosine.Deviation != 0 {
		t.Errorf("to a zero vector: %+v", st)
	}
	same(t, "leg", ranking(b.search(engine.Request{Exact: true, Legs: []engine.Leg{near(3, 0, 0)}}), 0), nil)
}
