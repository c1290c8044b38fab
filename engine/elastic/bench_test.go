package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/textquery"
)

const (
	benchChunks = 5000
	benchDims   = 384
)

// BenchmarkSearch runs the shapes of requests over 5,000 chunks of 60 words
// with 384 dimensions.
func BenchmarkSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	e, kb := benchBase(b, rng)
	query := &textquery.Query{}
	terms := []string{}
	for i := range 6 {
		word := fmt.Sprint("w", 5+i*17)
		terms = append(terms, word)
		query.Terms = append(query.Terms, textquery.Term{Text: word, Weight: 1})
	}
	vector := benchVector(rng)
	text := engine.Leg{Name: "text", Field: engine.FieldText, K: 100, Text: query}
	near := engine.Leg{Name: "vector", Field: engine.FieldVector, K: 100, Vector: vector}
	for name, req := range map[string]engine.Request{
		"text":   {Legs: []engine.Leg{text}},
		"vector": {Legs: []engine.Leg{near}},
		"both":   {Legs: []engine.Leg{text, near}},
		"sum":    {Legs: []engine.Leg{text, near}, Sum: &engine.Sum{Candidates: 1024, Weights: []float64{0.05, 0.95}}},
	} {
		req.KB = kb
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Search(b.Context(), &req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("statistics", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			fresh := append([]string{fmt.Sprint("unseen", n)}, terms...) // never remembered
			_, err := e.Statistics(b.Context(), &engine.StatisticsRequest{
				KB: kb, Field: engine.FieldText, Terms: fresh, VectorField: engine.FieldVector, Vector: vector,
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchVector(rng *rand.Rand) []float32 {
	v := make([]float32, benchDims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func benchBase(b *testing.B, rng *rand.Rand) (*elastic.Engine, engine.KnowledgeBase) {
	b.Helper()
	_, prefix := devservices.Indices(b)
	options := optionsOf(b, prefix)
	e, err := elastic.New(options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	kb := manuals()
	kb.Dimensions = benchDims
	zipf := rand.NewZipf(rng, 1.1, 4, 5000)
	var chunks []engine.Chunk
	for i := range benchChunks {
		text := ""
		for range 60 {
			text += fmt.Sprint("w", zipf.Uint64(), " ")
		}
		chunks = append(chunks, engine.Chunk{
			ID: fmt.Sprint("c", i), DocumentID: fmt.Sprint("d", i/10), Content: text, Available: true,
			Vectors: map[string][]float32{engine.FieldVector: benchVector(rng)},
		})
	}
	if err := e.CreateKnowledgeBase(b.Context(), kb); err != nil {
		b.Fatal(err)
	}
	if _, err := e.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}); err != nil {
		b.Fatal(err)
	}
	return e, kb
}
