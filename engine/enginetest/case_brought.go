package enginetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
)

// chunksBrought holds an engine that brings chunks along with a ranking to those that it
// gives when asked for them, and to the same ranking.
func chunksBrought(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	full := passage("full", "red <b>&</b> more\nlines \\ \"中文\" 😀 \u2028", 1, 0)
	full.DocumentName, full.Ordinal, full.Title, full.Owner = "guide.md", 70_000, "A “title”", "u1"
	full.WrittenAt = "2026-11-28T16:00:00Z"
	full.Positions = [][]float64{{1, 72.5, 520, 90, -1e-9}, {2, 1, 2, 3, 4}}
	full.Metadata = map[string]any{
		"s": "红\t", "long": strings.Repeat("long ", 20), "empty": "", "b": true, "f": false,
		"n": -1.5, "whole": 9007199254740993.0, "big": 1e300, "list": []any{"a", 2.0, true},
	}
	hidden := passage("hidden", "red fox")
	hidden.Available = false
	b.write(full, passage("a", "red"), passage("b", "red blue sea"), passage("c", "blue"), hidden)
	b.bringAlike("a text leg", engine.Request{Legs: []engine.Leg{words(10, "red")}})
	both := []engine.Leg{words(10, "red"), near(10, 1, 1)}
	for name, sum := range map[string]engine.Sum{
		"a sum":              {Candidates: 10, Weights: []float64{0.3, 0.7}},
		"a sum of few":       {Candidates: 2, Weights: []float64{0.3, 0.7}},
		"a sum of equals":    {Candidates: 2, Weights: []float64{0, 0}},
		"a sum of saturated": {Candidates: 10, Weights: []float64{1, 1}, Pivot: 2},
	} {
		b.bringAlike(name, engine.Request{Legs: both, Sum: &sum})
	}
	b.bringAlike("a sum of one", engine.Request{
		Legs: both[:1], Sum: &engine.Sum{Candidates: 10, Weights: []float64{1}},
	})

	pairs := s.base(t, schema{Kind: engine.KindQA})
	pairs.write(engine.Chunk{ID: "q", DocumentID: "d", Available: true, Title: "t", QA: &engine.QA{
		Question: "q?", Answer: "red", FullAnswer: "full", Summary: "s",
		URL: "u", Category: "c", Date: "2026-01-31", Group: "g",
	}})
	leg := engine.Leg{Name: "answer", Field: engine.FieldAnswer, K: 10, Text: queryOf("red")}
	for _, got := range pairs.search(engine.Request{Legs: []engine.Leg{leg}, Prefetch: 1}).Chunks {
		if diff := cmp.Diff(pairs.chunk("q"), got); diff != "" {
			t.Errorf("a pair came with the ranking (-asked for +brought):\n%s", diff)
		}
	}
}

// bringAlike searches with more and more hits shown.
func (b *base) bringAlike(name string, req engine.Request) {
	b.t.Helper()
	req.KB = b.kb
	want := hitIDs(b.search(req).Hits)
	for prefetch := range 5 {
		req.Prefetch = prefetch
		result, err := b.engine.Search(b.t.Context(), &req)
		if err != nil {
			b.t.Fatal(err)
		}
		same(b.t, "hits of "+name, hitIDs(result.Hits), want)
		for _, got := range result.Chunks {
			if diff := cmp.Diff(b.chunk(got.ID), got); diff != "" || !got.Available {
				b.t.Errorf("%q came with the ranking of %s (-asked for +brought):\n%s", got.ID, name, diff)
			}
		}
		if len(result.Chunks) == 0 && prefetch == 3 {
			b.t.Logf("%s brings no chunks with the ranking of %s", b.engine.Name(), name)
		}
	}
}
