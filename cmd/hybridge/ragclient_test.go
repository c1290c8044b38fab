package main

import (
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// TestGoClient asks by package rag, as programs in Go do.
// Covers Go: search, filter, threshold, nothing found, wrong key, foreign tenant.
func TestGoClient(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		by := func(key string) *rag.Service {
			return rag.New(rag.At(b.url, rag.ClientOptions{APIKey: key, HTTP: b.http}))
		}
		f := func(q rag.Query, want int) {
			t.Helper()
			q.KnowledgeBases, q.TopK = []string{"kb"}, 100
			found, err := by("root").Search(t.Context(), q)
			if err != nil || len(found) != want {
				t.Errorf("%+v: %d hits, %v; want %d", q, len(found), err, want)
			}
		}
		mood := search.Request{Filter: filter.Expression{"mood": json.RawMessage(`"m"`)}}
		const unknown = "In which order did the football teams of 1998 play?"
		f(rag.Query{Text: "refund order"}, 90)
		f(rag.Query{Text: "refund order", Request: mood}, 30)
		f(rag.Query{Text: "refund order", User: "anna"}, 30)
		f(rag.Query{Text: "the refund of order 7", ScoreThreshold: 0.9}, 2)
		f(rag.Query{Text: unknown}, 90)
		f(rag.Query{Text: unknown, MinRelevance: 0.25}, 0)
		refused := func(key string, kind fault.Kind) {
			t.Helper()
			_, err := by(key).Context(t.Context(), rag.Query{Text: "refund", KnowledgeBases: []string{"kb"}}, 2000)
			if !fault.Is(err, kind) {
				t.Errorf("%s: %v, want %s", key, err, kind)
			}
		}
		refused("nobody", fault.Unauthenticated)
		refused("rival", fault.NotFound)
	})
}
