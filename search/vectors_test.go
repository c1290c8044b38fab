package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search"
)

// titled is a knowledge base with a vector of the title and one that is brought.
func (b *bench) titled(id string, chunks ...engine.Chunk) {
	b.Helper()
	dimensions := 4
	kb, err := b.catalog.Create(b.Context(), scope, catalog.Spec{ID: id, Dimensions: &dimensions, VectorFields: []engine.VectorField{
		{Name: "title_vector", Source: engine.SourceTitle}, {Name: "summary_vector"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
	if _, err := b.engine.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}); err != nil {
		b.Fatal(err)
	}
}

// titles are chunks with all vectors, but for "untitled" whose content is nearest to
// [1, 0, 0, 0].
func titles() []engine.Chunk {
	var chunks []engine.Chunk
	for i := range 12 {
		x := float32(i) / 20
		c := chunk(fmt.Sprintf("c%02d", i), "d", "a refund", x, 0.1)
		c.Title = "Title"
		c.Vectors["title_vector"] = []float32{1 - x, 0.2, 0, 0}
		c.Vectors["summary_vector"] = []float32{0, 1, x, 0}
		chunks = append(chunks, c)
	}
	return append(chunks, chunk("untitled", "d", "a refund", 1, 0))
}

func testSeveralVectors(b *bench) {
	b.titled("titles", titles()...)
	const question = `{"query": "refund", "vector": [1, 0, 0, 0], "knowledge_bases": ["titles"], "cache": false, `
	for preset := range passagePresets() {
		r := b.answer(question + `"preset": "` + preset + `", "candidates": 5, "top_k": 5, "explain": true}`)
		var names []string
		for _, leg := range r.Explain.Plan.Legs {
			names = append(names, leg.Name)
		}
		for _, hit := range r.Hits {
			if len(hit.Legs) != len(names) {
				b.Errorf("%s: %s has the legs %+v, want %v", preset, hit.ID, hit.Legs, names)
			}
			for i, leg := range hit.Legs {
				if hit.ID == "untitled" && i > 1 && (leg.Rank != nil || leg.Raw != nil) {
					b.Errorf(`%s: the untitled chunk has %+v; want hit.ID other than "untitled" or i at most 1 or no leg.Rank and no leg.Raw`, preset, leg)
				}
			}
		}
		if len(r.Hits) != 5 || len(r.Degraded) > 0 {
			b.Errorf("%s: %s, degraded %+v; want 5 r.Hits and len(r.Degraded) 0", preset, ids(r), r.Degraded)
		}
	}
	// Where chunks are far more than candidates, one without a title still competes.
	for _, preset := range []string{"balanced", "rrf", "linear", "vector"} {
		r := b.answer(question + `"preset": "` + preset + `", "candidates": 3, "top_k": 3}`)
		if r.Hits[0].ID != "untitled" {
			b.Errorf("%s: %s, want the nearest first", preset, ids(r))
		}
	}
	r := b.answer(question + `"preset": "rrf", "weights": {"text": 0, "vector": 0, "title_vector": 1}, "top_k": 2}`)
	if got := ids(r); got != "c00 c01" {
		b.Errorf(`the title's leg alone gives %s; want got "c00 c01"`, got)
	}
	// A threshold on vector looks at that field alone.
	r = b.answer(question + `"preset": "balanced", "threshold": {"vector": 0.99}}`)
	if got := ids(r); got != "untitled" {
		b.Errorf(`above the threshold are %s; want got "untitled"`, got)
	}
	if _, err := b.ask(question + `"weights": {"image_vector": 1}}`); err == nil {
		b.Error("a weight of no leg was accepted")
	}
	b.explainsTitles()
}

// explainsTitles asks for the account of a chunk without a title.
func (b *bench) explainsTitles() {
	b.Helper()
	var req search.Request
	body := `{"query": "refund", "vector": [1, 0, 0, 0], "knowledge_bases": ["titles"], "preset": "rrf"}`
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		b.Fatal(err)
	}
	account, err := b.searcher.Explain(b.Context(), scope, search.ExplainRequest{Request: req, ChunkID: "untitled"})
	if err != nil {
		b.Fatal(err)
	}
	if len(account.Legs) != 4 || account.Legs[2].Leg != "title_vector" {
		b.Errorf(`explained as %+v; want 4 account.Legs and account.Legs[2].Leg "title_vector"`, account)
	}
}

// TestTitleOffIsWithout: at weight 0 further fields change no hit and no score.
func TestTitleOffIsWithout(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.titled("titles", titles()...)
	plain := titles()
	for i := range plain {
		plain[i].Vectors = map[string][]float32{engine.FieldVector: plain[i].Vectors[engine.FieldVector]}
	}
	b.fill("plain", plain...)
	for _, preset := range []string{"balanced", "rrf", "linear", "script_score"} {
		ask := func(kb, weights string) string {
			r := b.answer(`{"query": "refund", "vector": [1, 0, 0, 0], "preset": "` + preset + `"` + weights + `, "knowledge_bases": ["` + kb + `"]}`)
			found := ""
			for _, hit := range r.Hits {
				found += fmt.Sprintf("%s %.9f ", hit.ID, hit.Score)
			}
			return found
		}
		got, want := ask("titles", `, "weights": {"title_vector": 0, "summary_vector": 0}`), ask("plain", "")
		if got != want {
			t.Errorf("%s: %s, want %s", preset, got, want)
		}
	}
}
