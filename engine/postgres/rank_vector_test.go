package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/filter"
)

// scattered makes chunks with random vectors of which one in rare is rare.
func scattered(n, dims, rare int) []engine.Chunk {
	rng := rand.New(rand.NewPCG(1, uint64(dims)))
	chunks := make([]engine.Chunk, n)
	for i := range chunks {
		chunks[i] = engine.Chunk{
			ID: fmt.Sprintf("c%06d", i), DocumentID: "d", Available: true, Content: "word",
			Metadata: map[string]any{"rare": i%rare == 0},
			Vectors:  map[string][]float32{engine.FieldVector: random(rng, dims)},
		}
	}
	return chunks
}

func random(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func baseOf(t testing.TB, e *postgres.Engine, dims int, chunks []engine.Chunk) engine.KnowledgeBase {
	t.Helper()
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks, Dimensions: dims, Engine: postgres.Name,
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write(t, e, kb, chunks)
	return kb
}

func write(t testing.TB, e *postgres.Engine, kb engine.KnowledgeBase, chunks []engine.Chunk) {
	t.Helper()
	for part := range slices.Chunk(chunks, 5000) {
		outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: part})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
		}
	}
}

func nearest(t testing.TB, e *postgres.Engine, kb engine.KnowledgeBase, k int, f engine.Filter) *engine.Result {
	t.Helper()
	query := random(rand.New(rand.NewPCG(5, 5)), kb.Dimensions)
	result, err := e.Search(t.Context(), &engine.Request{KB: kb, Filter: f, Legs: []engine.Leg{
		{Name: "vector", Field: engine.FieldVector, K: k, Vector: query},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func idsOf(hits []engine.Hit) []string {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[hits[i].Observations[0].Rank-1] = hits[i].ID
	}
	return ids
}

// TestSelectiveFilterFillsK keeps 1 chunk in 500 and asks for all of the 100 that
// are left, of which a walk through the index alone finds a few.
//
// Promise: "a filter never costs hits" (docs/postgresql.md).
// Promise: "a filter never costs hits" (docs/guide/en/postgres.md).
func TestSelectiveFilterFillsK(t *testing.T) {
	options := optionsOf(t)
	options.ExactLimit = 100_000 // so that no index is built beside
	e := open(t, options)
	kb := baseOf(t, e, 8, scattered(50_000, 8, 500))
	if err := postgres.BuildRoughIndex(t.Context(), e, kb.Ref); err != nil {
		t.Fatal(err)
	}
	rare := engine.Filter{Conditions: []filter.Condition{{Field: "rare", In: []filter.Value{{V: true}}}}}
	postgres.SetExact(e, 2000, 10)
	if got := nearest(t, e, kb, 100, engine.Filter{}); got.Method != "hnsw" || len(got.Hits) != 100 {
		t.Errorf(`unfiltered, by count: %d hits, %s; want got.Method "hnsw" and 100 got.Hits`, len(got.Hits), got.Method)
	}
	exact := nearest(t, e, kb, 100, rare)
	if exact.Method != "exact" || len(exact.Hits) != 100 {
		t.Errorf(`by count: %d hits, %s; want exact.Method "exact" and 100 exact.Hits`, len(exact.Hits), exact.Method)
	}
	postgres.SetExact(e, -1, 0)
	if got := nearest(t, e, kb, 10, engine.Filter{}); got.Method != "hnsw" || len(got.Hits) != 10 {
		t.Errorf(`unfiltered: %d hits, %s; want got.Method "hnsw" and 10 got.Hits`, len(got.Hits), got.Method)
	}
	repeated := nearest(t, e, kb, 100, rare)
	if len(repeated.Hits) != 100 || !slices.Equal(idsOf(repeated.Hits), idsOf(exact.Hits)) {
		t.Errorf("%d hits by %s, other than the exact ones", len(repeated.Hits), repeated.Method)
	}
	asked := engine.Request{KB: kb, Exact: true, Legs: []engine.Leg{
		{Name: "vector", Field: engine.FieldVector, K: 100, Vector: random(rand.New(rand.NewPCG(5, 5)), 8)},
	}}
	every, err := e.Search(t.Context(), &asked)
	if err != nil || every.Method != "exact" || len(every.Hits) != 100 {
		t.Errorf(`asked for the exact answer: %+v, %v; want no error and every.Method "exact" and 100 every.Hits`, every, err)
	}
	if got := nearest(t, e, kb, 200, rare); got.Method != "exact" || len(got.Hits) != 100 {
		t.Errorf(`asked for more than there are: %d hits, %s; want got.Method "exact" and 100 got.Hits`, len(got.Hits), got.Method)
	}
}

// TestIndexFindsNearlyAll compares the index with the exact answer, for vectors
// that are indexed as they are and for those that are indexed as halves.
func TestIndexFindsNearlyAll(t *testing.T) {
	for dims, n := range map[int]int{32: 3000, 2001: 300} {
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			e := open(t, optionsOf(t))
			kb := baseOf(t, e, dims, scattered(n, dims, 2))
			want := nearest(t, e, kb, 20, engine.Filter{})
			if want.Method != "exact" {
				t.Fatalf("without an index: %s", want.Method)
			}
			if err := postgres.BuildIndexes(t.Context(), e, kb.Ref); err != nil {
				t.Fatal(err)
			}
			postgres.SetExact(e, -1, 0)
			got := nearest(t, e, kb, 20, engine.Filter{})
			if got.Method != "hnsw" || got.Legs[0].Method != "hnsw" {
				t.Errorf(`with an index: %s; want got.Method "hnsw" and got.Legs[0].Method "hnsw"`, got.Method)
			}
			found := 0
			for _, id := range idsOf(got.Hits) {
				if slices.Contains(idsOf(want.Hits), id) {
					found++
				}
			}
			if found < 18 {
				t.Errorf("%d of the 20 nearest; want found at least 18", found)
			}
		})
	}
}

// TestSumOfManyIsOverTheUnion: beyond the exact limit a sum sees the best of each
// leg, with both scores of each.
func TestSumOfManyIsOverTheUnion(t *testing.T) {
	e := open(t, optionsOf(t))
	chunks := scattered(2000, 16, 2)
	chunks[77].Content = "needle word"
	kb := baseOf(t, e, 16, chunks)
	if err := postgres.BuildIndexes(t.Context(), e, kb.Ref); err != nil {
		t.Fatal(err)
	}
	postgres.SetExact(e, -1, 0)
	result, err := e.Search(t.Context(), &engine.Request{
		KB: kb, Sum: &engine.Sum{Candidates: 30, Weights: []float64{1, 1}},
		Legs: []engine.Leg{
			{Name: "text", Field: engine.FieldText, K: 1, Text: queryOf("needle")},
			{Name: "vector", Field: engine.FieldVector, K: 1, Vector: chunks[5].Vectors[engine.FieldVector]},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Method != "union" || len(result.Hits) != 30 || result.Hits[0].ID != chunks[77].ID {
		t.Fatalf("%s, %d hits, first %+v", result.Method, len(result.Hits), result.Hits[0])
	}
	for _, h := range result.Hits {
		if !h.Observations[1].Known() {
			t.Errorf("%s has no cosine", h.ID)
		}
	}
}

// TestIndexIsBuiltWhenWritersPause waits for the engine's own index.
func TestIndexIsBuiltWhenWritersPause(t *testing.T) {
	options := optionsOf(t)
	options.ExactLimit = 50
	e := open(t, options)
	kb := baseOf(t, e, 4, scattered(200, 4, 2))
	wait(t, func() bool { return indexReady(t, e, kb) })
	if got := nearest(t, e, kb, 3, engine.Filter{}); got.Method != "hnsw" {
		t.Errorf(`searched by %s; want got.Method "hnsw"`, got.Method)
	}
}

// TestUnfinishedIndexIsNotUsed: an index whose building failed would find nothing.
func TestUnfinishedIndexIsNotUsed(t *testing.T) {
	options := optionsOf(t)
	options.ExactLimit = 10
	e := open(t, options)
	kb := baseOf(t, e, 4, scattered(200, 4, 2))
	if err := postgres.BuildRoughIndex(t.Context(), e, kb.Ref); err != nil {
		t.Fatal(err)
	}
	postgres.SetExact(e, 10, 1)
	if got := nearest(t, e, kb, 5, engine.Filter{}).Method; got != "hnsw" {
		t.Fatalf(`with an index the method is %q; want got "hnsw"`, got)
	}
	execute(t, options.URL, `UPDATE pg_index SET indisvalid = FALSE FROM pg_class
		WHERE pg_class.oid = indexrelid AND relname LIKE '%_hnsw' AND relnamespace = to_regnamespace($1)`, options.Schema)
	if _, err := e.Describe(t.Context(), kb); err != nil { // which looks at the indexes anew
		t.Fatal(err)
	}
	if got := nearest(t, e, kb, 5, engine.Filter{}).Method; got != "exact" {
		t.Errorf(`with an unfinished index the method is %q; want got "exact"`, got)
	}
}
