package ingest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// A line of an export makes the chunk that it was made of.
func TestALineMakesItsChunkAgain(t *testing.T) {
	f := func(kind engine.KnowledgeKind, chunk engine.Chunk) {
		t.Helper()
		line, err := lineOf(&chunk, true)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		d := decoder{kb: &engine.KnowledgeBase{
			Kind: kind, Dimensions: 2, VectorFields: []engine.VectorField{{Name: "title_vector", Source: "title"}},
		}}
		made, err := d.decode(text)
		if err != nil || !reflect.DeepEqual(made, chunk) {
			t.Errorf("%s makes %+v, %v; it was made of %+v", brief.Of(text), made, err, chunk)
		}
		if line, err = lineOf(&chunk, false); err != nil || line.vectors()["vector"] != nil || line.Vectors != nil {
			t.Errorf("without vectors: %+v, %v", line, err)
		}
	}
	told := map[string]any{"language": "en"}
	f(engine.KindChunks, engine.Chunk{ID: "a", WrittenAt: "2026-01-31T12:00:00Z", DocumentID: "d", Content: "<b> & \u2028", Metadata: told, Vectors: map[string][]float32{}})
	f(engine.KindChunks, engine.Chunk{
		ID: "文/1", WrittenAt: "2026-01-31T12:00:00Z", DocumentID: "d", DocumentName: "d.md", Ordinal: 7, Title: "T", Content: "c", Available: true,
		Positions: [][]float64{{1, 0.1, 2, 3, 4e-9}, {1, 9}}, Owner: "anna",
		Metadata: map[string]any{
			"language": "", "a.b": true, "n": 0.1, "big": 1e20, "exact": float64(1<<53 - 1), "empty": []any{},
			"list": []any{"x", 1.5, -1e300, false},
		},
		Vectors: map[string][]float32{"vector": {0.1, -1e-30}, "title_vector": {1, 0}},
	})
	f(engine.KindQA, engine.Chunk{
		ID: "q", WrittenAt: "2026-01-31T12:00:00Z", DocumentID: "q", Available: true, Metadata: told, QA: &engine.QA{
			Question: "q", Answer: "a", FullAnswer: "f", Summary: "s", URL: "u", Category: "c", Date: "2026-01-31", Group: "g",
		},
		Vectors: map[string][]float32{"question_vector": {1, 2}, "answer_vector": {3, 4}},
	})
}
