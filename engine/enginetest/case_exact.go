package enginetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

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
