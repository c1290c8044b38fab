package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// reversing is a reranker that likes later texts better, and notes what it read.
type reversing struct {
	read []string
	err  error
	lost int  // so many scores are missing
	even bool // all texts are as good
}

func (r *reversing) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	r.read = texts
	scores := make([]float64, len(texts)-r.lost)
	for i := range scores {
		scores[i] = float64(i+1) / 200
		if r.even {
			scores[i] = 0.5
		}
	}
	return scores, r.err
}

// reranked searches 150 chunks, whose contents are their ids, with and without the
// reranker.
func reranked(t *testing.T, by *reversing, topK int) (plain, got *search.Response) {
	t.Helper()
	e := newStill(150, 150, true)
	for id, chunk := range e.chunks {
		chunk.Content = id
		e.chunks[id] = chunk
	}
	planners, err := presets.With(map[string]presets.Custom{
		"reranked": {Base: "script_score", Overrides: search.Overrides{Rerank: new("reversing")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := search.New(search.Options{
		Catalog: e, Analyzer: silent{}, Planners: planners, DefaultPreset: presets.Default,
		Rerankers: map[string]search.Reranker{"reversing": by},
	})
	request := search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "script_score", TopK: &topK,
		Vector: make([]float32, 384),
	}
	ask := func() *search.Response {
		response, err := s.Search(t.Context(), scope, request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	plain = ask()
	request.Rerank = new("reversing")
	got = ask()
	request.Preset, request.Rerank = "reranked", nil
	if byPreset := ask(); ids(byPreset) != ids(got) {
		t.Errorf("by the preset's reranker %s, by the request's %s", ids(byPreset), ids(got))
	}
	request.Rerank = new("")
	if without := ask(); ids(without) != ids(plain) {
		t.Errorf("without the preset's reranker %s, want %s", ids(without), ids(plain))
	}
	return plain, got
}

func TestARerankerOrdersTheBest(t *testing.T) {
	for topK, read := range map[int]int{1: 1, 10: 10, 100: 100, 101: 100, 150: 100} {
		by := &reversing{}
		plain, got := reranked(t, by, topK)
		want := strings.Fields(ids(plain))
		if len(by.read) != read || !slices.Equal(by.read, want[:read]) {
			t.Errorf("top_k %d: it reads %d texts, want those of the best %d in their order", topK, len(by.read), read)
		}
		slices.Reverse(want[:read])
		if !slices.Equal(strings.Fields(ids(got)), want) {
			t.Errorf("top_k %d: hits %s, want %s", topK, ids(got), want)
		}
		if best := float64(read) / 200; got.Hits[0].Score != best || got.MaxScore != best {
			t.Errorf("top_k %d: score %v of at most %v, want the reranker's %v", topK, got.Hits[0].Score, got.MaxScore, best)
		}
	}
}

func TestTextsAsGoodKeepTheirOrder(t *testing.T) {
	plain, got := reranked(t, &reversing{even: true}, 50)
	if ids(got) != ids(plain) || got.MaxScore != 0.5 {
		t.Errorf("hits %s of at most %v, want %s", ids(got), got.MaxScore, ids(plain))
	}
}

func TestARerankerThatFailsChangesNothing(t *testing.T) {
	for told, by := range map[search.Degraded]*reversing{
		{Code: fault.Overloaded, Reason: "it is busy"}:                               {err: fault.New(fault.Overloaded, "it is busy")},
		{Code: fault.Unavailable, Reason: "the reranker gave 9 scores for 10 texts"}: {lost: 1},
		{Code: fault.Internal, Reason: "internal error"}:                             {err: fmt.Errorf("secret")},
	} {
		plain, got := reranked(t, by, 10)
		told.Leg = "rerank"
		want := []search.Degraded{told}
		if ids(got) != ids(plain) || got.MaxScore != plain.MaxScore || !slices.Equal(got.Degraded, want) {
			t.Errorf("%s: hits %s, want %s; degraded %+v", told.Reason, ids(got), ids(plain), got.Degraded)
		}
	}
}
