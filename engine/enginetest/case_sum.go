package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

func sumCases() []testCase {
	return []testCase{
		{"sum/equals the weights times the points of the legs", sumEqualsLegs},
		{"sum/weight zero and saturation", sumVariants},
		{"sum/a tie decides by id who is a candidate", sumTies},
		{"sum/without legs every chunk that passes the filter, by id", sumWithoutLegs},
	}
}

// random makes chunks of a few words with vectors, some without one.
func random(n, dims int, seed uint64) []engine.Chunk {
	rng := rand.New(rand.NewPCG(seed, 1))
	var chunks []engine.Chunk
	for i := range n {
		text := ""
		for range 1 + rng.IntN(12) {
			text += fmt.Sprintf("w%d ", int(rng.ExpFloat64()*4))
		}
		c := passage(fmt.Sprintf("c%03d", i), text, vectorOf(rng, dims)...)
		if i%7 == 0 {
			c.Vectors = nil
		}
		chunks = append(chunks, c)
	}
	return chunks
}

func vectorOf(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// sumEqualsLegs takes every chunk's raw scores from the legs alone, and the
// sum must be what they add up to, for every chunk.
func sumEqualsLegs(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 8})
	const n = 120
	b.write(random(n, 8, 1)...)
	query := vectorOf(rand.New(rand.NewPCG(9, 9)), 8)
	legs := []engine.Leg{words(n, "w0 w3 w7"), near(n, query...)}
	alone := b.search(engine.Request{Legs: legs})
	raw := map[string]engine.Hit{}
	for _, hit := range alone.Hits {
		raw[hit.ID] = hit
	}
	req := engine.Request{Legs: legs, Sum: &engine.Sum{Candidates: n, Weights: []float64{0.3, 0.7}}}
	sum := b.search(req)
	if len(sum.Hits) != n {
		t.Errorf("%d chunks took part of %d", len(sum.Hits), n)
	}
	for i := range sum.Hits {
		hit := &sum.Hits[i]
		legHit, found := raw[hit.ID]
		if !found { // neither leg knows it: no word, no vector
			near64(t, "sum of "+hit.ID, sumOf(&req, hit), 0, 0)
			continue
		}
		near64(t, "sum of "+hit.ID, sumOf(&req, hit), sumOf(&req, &legHit), 1e-5)
	}
}

func sumVariants(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 8})
	b.write(random(60, 8, 2)...)
	query := vectorOf(rand.New(rand.NewPCG(3, 3)), 8)
	for _, sum := range []engine.Sum{
		{Candidates: 10, Weights: []float64{0, 0}},
		{Candidates: 10, Weights: []float64{1, 0}},
		{Candidates: 10, Weights: []float64{0, 1}},
		{Candidates: 10, Weights: []float64{0.05, 0.95}},
		{Candidates: 10, Weights: []float64{0.5, 0.5}, Pivot: 3},
		{Candidates: 60, Weights: []float64{1000, 0.001}, Pivot: 0.1},
		{Candidates: 1, Weights: []float64{1, 1}},
	} {
		for _, required := range []bool{false, true} {
			text := words(1, "w1 w2")
			text.Required = required
			result := b.search(engine.Request{Legs: []engine.Leg{text, near(1, query...)}, Sum: &sum})
			if required {
				allMatch(t, result)
			}
		}
	}
}

// allMatch wants every hit to have a word of the first leg.
func allMatch(t *testing.T, result *engine.Result) {
	t.Helper()
	for i := range result.Hits {
		if hit := &result.Hits[i]; hit.Observations[0].Raw == 0 {
			t.Errorf("%q does not match the required text", hit.ID)
		}
	}
}

// sumTies has a few chunks that are better and many that are equal.
func sumTies(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	var chunks []engine.Chunk
	var want []string
	for i := range 40 {
		c := passage(fmt.Sprintf("c%02d", 39-i), "fox", 1, 1)
		if i%20 == 7 {
			c = passage(c.ID, "fox", 1, 0)
			want = append([]string{c.ID}, want...)
		}
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	for i := range 8 {
		want = append(want, fmt.Sprintf("c%02d", i))
	}
	for _, n := range []int{10, 2, 1} {
		sum := &engine.Sum{Candidates: n, Weights: []float64{0.5, 0.5}}
		result := b.search(engine.Request{Legs: []engine.Leg{words(1, "fox"), near(1, 1, 0)}, Sum: sum})
		same(t, "candidates", hitIDs(result.Hits), want[:n])
	}
}

func sumWithoutLegs(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 8})
	chunks := random(60, 8, 4)
	for i := range chunks {
		chunks[i].Metadata = map[string]any{"part": []string{"even", "odd"}[i%2]}
	}
	chunks[10].Available = false
	b.write(chunks...)
	odd := engine.Filter{Conditions: []filter.Condition{{Field: "part", In: []filter.Value{{V: "odd"}}}}}
	for _, c := range []struct {
		filter     engine.Filter
		candidates int
		first      string
		hits       int
	}{
		{engine.Filter{}, 100, "c000", 59},
		{engine.Filter{}, 5, "c000", 5},
		{odd, 100, "c001", 30},
		{odd, 7, "c001", 7},
		{engine.Filter{Except: []string{"c001"}, Conditions: odd.Conditions}, 7, "c003", 7},
	} {
		sum := &engine.Sum{Candidates: c.candidates}
		found := b.search(engine.Request{Filter: c.filter, Facets: []string{"part"}, Sum: sum})
		if n, first := len(found.Hits), found.Hits[0].ID; n != c.hits || first != c.first {
			t.Errorf("%d candidates: %d hits, first %s; want %d, %s", c.candidates, n, first, c.hits, c.first)
		}
		for i := range found.Hits {
			hit := &found.Hits[i]
			if i > 0 && hit.ID <= found.Hits[i-1].ID {
				t.Errorf("%s stands after %s", hit.ID, found.Hits[i-1].ID)
			}
			if len(hit.Facets["part"]) != 1 || len(hit.Observations) != 0 {
				t.Errorf("%s has parts %q and %d observations", hit.ID, hit.Facets["part"], len(hit.Observations))
			}
		}
	}
}
