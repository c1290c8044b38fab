package search_test

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// countingEmbedder gives every text the same vector and counts the calls.
type countingEmbedder struct{ calls atomic.Int64 }

func (e *countingEmbedder) Query(context.Context, string) ([]float32, error) {
	e.calls.Add(1)
	return []float32{1, 0, 0, 0}, nil
}

func (*countingEmbedder) Model() string { return "" }

func testTogetherAsksOnce(b *bench) {
	b.fill("kb", shelf()...)
	embedder := &countingEmbedder{}
	b.searcher.Embedder = embedder
	requests := make([]search.Request, 0, 5)
	for _, preset := range []string{"balanced", "rrf", "text", "vector", "script_score"} {
		requests = append(requests, search.Request{
			Query: "how to request a refund", KnowledgeBases: []string{"kb"}, Preset: preset,
		})
	}
	outcomes, err := b.searcher.Together(b.Context(), scope, requests)
	if err != nil {
		b.Fatal(err)
	}
	if n := embedder.calls.Load(); n != 1 {
		b.Errorf("the query was embedded %d times; want n 1", n)
	}
	ignored := cmp.Options{
		cmpopts.IgnoreFields(search.Response{}, "QueryID", "TookMS", "Timings"),
		cmpopts.IgnoreUnexported(scoring.Contribution{}),
	}
	for i := range requests {
		alone, err := b.searcher.Search(b.Context(), scope, requests[i])
		if err != nil || outcomes[i].Err != nil {
			b.Fatal(err, outcomes[i].Err)
		}
		if diff := cmp.Diff(alone, outcomes[i].Response, ignored); diff != "" {
			b.Errorf("%s answers differently alone and together:\n%s", requests[i].Preset, diff)
		}
	}
	requests[3].Preset = "nonsense"
	_, err = b.searcher.Together(b.Context(), scope, requests)
	var refused *search.RefusedError
	if !errors.As(err, &refused) || refused.Index != 3 || !fault.Is(err, fault.InvalidArgument) {
		b.Errorf("a bad fourth request is refused as %v", err)
	}
}
