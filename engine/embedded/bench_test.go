package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// benchKB has 20,000 chunks of about 120 tokens and 384 dimensions.
func benchKB(b *testing.B, dir string) (engine.Engine, engine.KnowledgeBase, []float32) {
	e, err := embedded.Open(b.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	kb := testKB
	kb.Dimensions = 384
	if err := e.CreateKnowledgeBase(b.Context(), kb); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.2, 5, 30000)
	vector := func() []float32 {
		v := make([]float32, kb.Dimensions)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for from := 0; from < 20000; from += 1000 {
		chunks := make([]engine.Chunk, 1000)
		for i := range chunks {
			words := make([]string, 120)
			for j := range words {
				words[j] = fmt.Sprint("w", zipf.Uint64())
			}
			chunks[i] = engine.Chunk{
				ID: fmt.Sprintf("chunk-%06d", from+i), DocumentID: fmt.Sprint("d", (from+i)/20), Available: true,
				Content: strings.Join(words, " "), Vectors: map[string][]float32{engine.FieldVector: vector()},
				Metadata: map[string]any{"category": fmt.Sprint("c", i%10), "year": float64(2000 + i%25)},
			}
		}
		if _, err := e.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks}); err != nil {
			b.Fatal(err)
		}
	}
	return e, kb, vector()
}

// BenchmarkLoad opens the data directory and searches once.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	e, kb, vector := benchKB(b, dir)
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	req := engine.Request{KB: kb, Legs: []engine.Leg{{Name: "vector", Field: engine.FieldVector, K: 1, Vector: vector}}}
	for b.Loop() {
		again, err := embedded.Open(b.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := again.Search(b.Context(), &req); err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	e, kb, vector := benchKB(b, b.TempDir())
	text := &textquery.Query{}
	for _, w := range []string{"w3", "w40", "w170", "w900", "w2500"} {
		text.Terms = append(text.Terms, textquery.Term{Text: w, Weight: 1})
	}
	textLeg := engine.Leg{Name: "text", Field: engine.FieldText, K: 100, Text: text}
	vectorLeg := engine.Leg{Name: "vector", Field: engine.FieldVector, K: 100, Vector: vector}
	category := engine.Filter{Conditions: []filter.Condition{{Field: "category", In: []filter.Value{{V: "c3"}}}}}
	for name, req := range map[string]engine.Request{
		"text":         {Legs: []engine.Leg{textLeg}},
		"vector":       {Legs: []engine.Leg{vectorLeg}},
		"both":         {Legs: []engine.Leg{textLeg, vectorLeg}},
		"sum":          {Legs: []engine.Leg{textLeg, vectorLeg}, Sum: &engine.Sum{Candidates: 100, Weights: []float64{.3, .7}}},
		"sum1024":      {Legs: []engine.Leg{textLeg, vectorLeg}, Sum: &engine.Sum{Candidates: 1024, Weights: []float64{.05, .95}}},
		"sum filtered": {Legs: []engine.Leg{textLeg, vectorLeg}, Sum: &engine.Sum{Candidates: 100, Weights: []float64{.3, .7}}, Filter: category},
	} {
		req.KB = kb
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Search(b.Context(), &req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
