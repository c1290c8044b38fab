package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/textquery"
)

const (
	benchChunks = 20_000
	benchDims   = 384
	benchBatch  = 1000
)

// benchCorpus has vectors around 200 centres and words by Zipf's law.
func benchCorpus(n int) []engine.Chunk {
	rng := rand.New(rand.NewPCG(7, 7))
	centres := make([][]float32, 200)
	for i := range centres {
		centres[i] = gauss(rng, nil, 1)
	}
	zipf := rand.NewZipf(rng, 1.2, 3, 30_000)
	chunks := make([]engine.Chunk, n)
	for i := range chunks {
		words := make([]string, 80)
		for j := range words {
			words[j] = fmt.Sprint("w", zipf.Uint64())
		}
		chunks[i] = engine.Chunk{
			ID: fmt.Sprintf("c%06d", i), DocumentID: fmt.Sprintf("d%d", i/20), Available: true,
			Content:  strings.Join(words, " "),
			Metadata: map[string]any{"category": fmt.Sprint("k", i%500)},
			Vectors:  map[string][]float32{engine.FieldVector: gauss(rng, centres[i%200], 0.7)},
		}
	}
	return chunks
}

func gauss(rng *rand.Rand, centre []float32, spread float64) []float32 {
	v := make([]float32, benchDims)
	for i := range v {
		v[i] = float32(rng.NormFloat64() * spread)
		if centre != nil {
			v[i] += centre[i]
		}
	}
	return v
}

// filled makes a knowledge base of chunks; it gives how many it took in a second.
func filled(b *testing.B, e *postgres.Engine, chunks []engine.Chunk) (kb engine.KnowledgeBase, rate float64) {
	b.Helper()
	kb = engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "bench"}, Kind: engine.KindChunks, Dimensions: benchDims, Engine: postgres.Name,
	}
	if err := e.CreateKnowledgeBase(b.Context(), kb); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	for from := 0; from < len(chunks); from += benchBatch {
		part := chunks[from:min(from+benchBatch, len(chunks))]
		if _, err := e.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: part}); err != nil {
			b.Fatal(err)
		}
	}
	return kb, float64(len(chunks)) / time.Since(begun).Seconds()
}

// BenchmarkSearch is the rrf of 15 candidates a path over 20,000 chunks, by the
// vector index; it tells the rate of COPY and the time of the index as well.
func BenchmarkSearch(b *testing.B) {
	e := open(b, optionsOf(b))
	chunks := benchCorpus(benchChunks)
	kb, rate := filled(b, e, chunks)
	begun := time.Now()
	for !indexReady(b, e, kb) {
		time.Sleep(100 * time.Millisecond)
	}
	took := time.Since(begun)
	rng := rand.New(rand.NewPCG(9, 9))
	queries := make([]*engine.Request, 200)
	for i := range queries {
		like := &chunks[rng.IntN(len(chunks))]
		queries[i] = &engine.Request{KB: kb, Legs: []engine.Leg{
			{Name: "text", Field: engine.FieldText, K: 15, Text: someWords(rng, like)},
			{Name: "vector", Field: engine.FieldVector, K: 15, Vector: gauss(rng, like.Vectors[engine.FieldVector], 0.3)},
		}}
	}
	if _, err := e.Search(b.Context(), queries[0]); err != nil {
		b.Fatal(err)
	}
	search := func(b *testing.B, i int) {
		result, err := e.Search(b.Context(), queries[i%len(queries)])
		if err != nil || result.Method != "hnsw" {
			b.Errorf(`%v, %v; want no error and result.Method "hnsw"`, result, err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			search(b, i)
		}
		b.ReportMetric(rate, "copied/s")
		b.ReportMetric(took.Seconds(), "index-s")
	})
	b.Run("many", func(b *testing.B) {
		var n atomic.Int64
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				search(b, int(n.Add(1)))
			}
		})
	})
}

func someWords(rng *rand.Rand, c *engine.Chunk) *textquery.Query {
	words := strings.Fields(c.Content)
	q := &textquery.Query{}
	for _, i := range rng.Perm(len(words))[:6] {
		q.Terms = append(q.Terms, textquery.Term{Text: words[i], Weight: 1})
	}
	return q
}

func indexReady(t testing.TB, e *postgres.Engine, kb engine.KnowledgeBase) bool {
	t.Helper()
	d, err := e.Describe(t.Context(), kb)
	if err != nil {
		t.Fatal(err)
	}
	return d.Details["vector_index"].(map[string]string)[engine.FieldVector] == "hnsw"
}
