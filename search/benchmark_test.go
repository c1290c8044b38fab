package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// BenchmarkSearch is what the pipeline itself takes of a search of 10 hits: the
// engine answers at once, and no word is there to highlight.
func BenchmarkSearch(b *testing.B) {
	eachStill(b, func(b *testing.B, _ *still, once func()) {
		b.ReportAllocs()
		for b.Loop() {
			once()
		}
	})
}

// BenchmarkCold does the same with cold caches, as an engine on the same machine leaves
// them between two searches: the first quarter and the middle of the times in µs.
func BenchmarkCold(b *testing.B) {
	caches := make([]int, 8<<20) // more than they hold
	eachStill(b, func(b *testing.B, still *still, once func()) {
		var took []time.Duration
		for b.Loop() {
			for i := range caches {
				caches[i]++
			}
			caches[0] += still.read()
			start := time.Now()
			once()
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/4])/1e3, "µs-p25")
		b.ReportMetric(float64(took[len(took)/2])/1e3, "µs-p50")
		b.ReportMetric(0, "ns/op")
	})
}

// eachStill measures a search by each of three presets.
func eachStill(b *testing.B, measure func(b *testing.B, still *still, once func())) {
	vector := make([]float32, 384)
	topK, relative := 10, 0.2
	for name, still := range map[string]*still{
		"script_score": newStill(1024, 320, true),
		"balanced":     newStill(190, 120, false),
		"rrf":          newStill(50, 40, false),
	} {
		s := search.New(search.Options{
			Catalog: still, Analyzer: silent{}, Planners: presets.Builtin(), DefaultPreset: presets.Default,
		})
		request := search.Request{
			Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: name, TopK: &topK, Vector: vector,
			Overrides: search.Overrides{Threshold: search.Threshold{Relative: &relative}},
		}
		once := func() {
			response, err := s.Search(b.Context(), scope, request)
			if err != nil || len(response.Hits) != topK {
				b.Fatal(response, err)
			}
		}
		b.Run(name, func(b *testing.B) { measure(b, still, once) })
	}
}

// still is a catalogue of one knowledge base and the engine that holds it, whose
// every answer is ready.
type still struct {
	engine.Engine
	result engine.Result
	chunks map[string]engine.Chunk
}

// newStill answers with so many hits of so many documents, in the order of the
// sum of the legs or each ranked by its legs.
func newStill(hits, documents int, summed bool) *still {
	s := &still{chunks: map[string]engine.Chunk{}, result: engine.Result{
		Hits: make([]engine.Hit, hits), Legs: make([]engine.LegOutcome, 2), Method: "exact",
	}}
	for i := range s.result.Hits {
		document := i * 7919 % documents
		hit := engine.Hit{
			DocumentID: fmt.Sprintf("document-%04d", document), DocumentName: fmt.Sprintf("manual %d.md", document),
			Candidate: scoring.Candidate{ID: fmt.Sprintf("document-%04d-%04d", document, i)},
		}
		text := scoring.Observation{Raw: float64((i%2)*(i*7919%1009)) / 50}
		near := scoring.Observation{Raw: 0.9 - float64(i)/float64(hits)/2}
		if text.Raw > 0 {
			near.Raw -= 0.05 / 0.95 * text.Raw
		}
		text.Rank, near.Rank = i+1, i+1
		switch {
		case summed:
			text, near = scoring.Joint(scoring.Text, text.Raw), scoring.Joint(scoring.Vector, near.Raw)
		case i%3 == 0:
			near.Rank = 0
		}
		hit.Observations = []scoring.Observation{text, near}
		s.result.Hits[i] = hit
		s.chunks[hit.ID] = engine.Chunk{
			ID: hit.ID, DocumentID: hit.DocumentID, DocumentName: hit.DocumentName, Available: true,
		}
	}
	return s
}

// read reads the hits, as who decodes an answer leaves them in the caches.
func (s *still) read() (sum int) {
	for i := range s.result.Hits {
		hit := &s.result.Hits[i]
		sum += int(hit.ID[0]) + int(hit.DocumentID[0]) + hit.Observations[len(hit.Observations)-1].Rank
	}
	return sum
}

func (*still) Name() string { return "still" }

func (s *still) Get(_ context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	return engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: scope.Tenant, ID: id}, Kind: engine.KindChunks, Dimensions: 384,
	}, s, nil
}

func (s *still) Search(context.Context, *engine.Request) (*engine.Result, error) {
	result := s.result
	return &result, nil
}

func (*still) Statistics(_ context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	return &engine.Statistics{
		Docs: 20_000, AverageLength: 92, DF: make([]int, len(req.Terms)),
		Vectors: 20_000, Cosine: scoring.Moments{Mean: 0.2, Deviation: 0.1},
	}, nil
}

func (s *still) Chunks(_ context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	chunks := make([]engine.Chunk, len(req.IDs))
	for i, id := range req.IDs {
		chunks[i] = s.chunks[id]
	}
	return chunks, nil
}

// silent is an analyzer that finds one word in every question and none in a text.
type silent struct{}

func (silent) Parse(query string) analysis.Query {
	return analysis.Query{Text: query, Terms: []analysis.QueryTerm{{Text: query, Count: 1, End: len(query)}}}
}

func (s silent) ParsePlain(query string) analysis.Query { return s.Parse(query) }

func (silent) Tokens(string) []analysis.Token { return nil }

func (silent) Selector([]string, func(string) bool) analysis.Selector {
	return func(tokens []analysis.Token, _ string) []analysis.Token { return tokens }
}

func (silent) Terms(string) []string   { return nil }
func (silent) Fold(text string) string { return text }
