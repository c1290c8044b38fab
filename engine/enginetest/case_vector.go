package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

func vectorCases() []testCase {
	return []testCase{
		{"vector/cosines are those of the stored vectors", exactCosines},
		{"vector/4096 dimensions", manyDimensions},
		{"vector/very long and very short vectors", extremeLengths},
		{"vector/no dimensions, no vectors", keywordOnly},
		{"vector/a wrong vector fails its chunk only", wrongVector},
	}
}

// cosine in float64.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return dot / math.Sqrt(aa*bb)
}

func checkCosines(t *testing.T, s *suite, dims int, vectors map[string][]float32, query []float32) {
	t.Helper()
	b := s.base(t, schema{Dimensions: dims})
	for id, v := range vectors {
		b.write(passage(id, "word", v...))
	}
	result := b.search(engine.Request{Legs: []engine.Leg{near(100, query...)}})
	sameSet(t, "hits", hitIDs(result.Hits), sortedKeys(vectors))
	for _, hit := range result.Hits {
		got, want := hit.Observations[0].Raw, cosine(vectors[hit.ID], query)
		if math.Abs(got-want) > 2e-6 {
			t.Errorf("cosine of %s is %v, want %v", hit.ID, got, want)
		}
	}
}

func exactCosines(t *testing.T, s *suite) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, dims := range []int{1, 2, 3, 7, 33} {
		vectors := map[string][]float32{}
		for i := range 12 {
			vectors[fmt.Sprint("v", i)] = vectorOf(rng, dims)
		}
		checkCosines(t, s, dims, vectors, vectorOf(rng, dims))
	}
}

func manyDimensions(t *testing.T, s *suite) {
	rng := rand.New(rand.NewPCG(5, 5))
	const dims = 4096
	if dims > s.engine.Capabilities().MaxDims {
		t.Fatalf("the engine takes %d dimensions only", s.engine.Capabilities().MaxDims)
	}
	vectors := map[string][]float32{"a": vectorOf(rng, dims), "b": vectorOf(rng, dims), "c": vectorOf(rng, dims)}
	checkCosines(t, s, dims, vectors, vectors["b"])
}

func extremeLengths(t *testing.T, s *suite) {
	checkCosines(t, s, 2, map[string][]float32{
		"long":  {3e15, 4e15},
		"short": {4e-15, 3e-15},
		"plain": {1, 0},
		"back":  {-1, -1},
	}, []float32{5e5, 1e5})
}

func keywordOnly(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 0})
	b.write(passage("a", "red"))
	result := b.tolerant(engine.Request{Legs: []engine.Leg{words(3, "red"), near(3, 1, 0)}})
	same(t, "text", ranking(result, 0), []string{"a"})
	if result.Legs[1].Err == nil {
		t.Error("a vector leg ran over a knowledge base without vectors")
	}
}

func wrongVector(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	chunks := []engine.Chunk{
		passage("good", "red", 1, 0),
		passage("long", "red", 1, 0, 0),
		passage("nan", "red", float32(math.NaN()), 0),
		passage("inf", "red", float32(math.Inf(-1)), 0),
		passage("last", "red", 0, 1),
	}
	outcomes, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true})
	if err != nil || len(outcomes) != len(chunks) {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	for i, o := range outcomes {
		failed := o.Status == engine.Failed && o.Err != nil
		if want := i >= 1 && i <= 3; failed != want {
			t.Errorf("chunk %s: %+v", chunks[i].ID, o)
		}
	}
	same(t, "what was good is there", b.ids(words(5, "red"), engine.Filter{}), []string{"good", "last"})
}
