package enginetest

import (
	"reflect"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// sumBringsChunks holds an engine that brings chunks with a joint ranking to bringing
// the best ones, whole and as Chunks reads them.
func sumBringsChunks(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	rich := passage("rich", "fox \"<红>\" 狐狸\n\u2028\x00 \U0001F98A", 1, 0)
	rich.Title, rich.DocumentName, rich.Owner, rich.Ordinal = "Füchse", "guide.md", "u1", 7
	rich.Positions = [][]float64{{1, 72.25, 520, 1e-7, 140}, {}}
	rich.Metadata = map[string]any{
		"n": 0.1, "big": 123456789012345.0, "huge": 1e300, "is": true, "none": nil,
		"list": []any{"a", 1.0, map[string]any{"b": "ü"}}, "": "unnamed",
	}
	plain := passage("plain", "fox")
	plain.Metadata = map[string]any{}
	hidden := passage("hidden", "fox and fox", 1, 0)
	hidden.Available = false
	b.write(rich, plain, hidden, passage("other", "bird", 0, 1), passage("last", "bird", -1, 0))
	filter := engine.Filter{Owner: "u1"}
	for _, n := range []int{0, 1, 3, 99, 10_000} {
		req := engine.Request{
			Legs: []engine.Leg{words(1, "fox"), near(1, 1, 0)}, Contents: n,
			Sum: &engine.Sum{Candidates: 4, Weights: []float64{1, 1}},
		}
		b.brings(t, req)
		req.Legs[0].Required = true
		b.brings(t, req)
		req.Filter = filter
		b.brings(t, req)
	}
}

// brings searches and compares the chunks that come with the hits.
func (b *base) brings(t *testing.T, req engine.Request) {
	t.Helper()
	result := b.search(req)
	if len(result.Chunks) == 0 {
		return // nobody has to
	}
	ids := hitIDs(result.Hits)[:len(result.Chunks)]
	want, err := b.engine.Chunks(t.Context(), engine.ChunksRequest{KB: b.kb, IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Chunks) != min(req.Contents, len(result.Hits)) || !reflect.DeepEqual(result.Chunks, want) {
		t.Errorf("%d contents: brought %+v, want %+v", req.Contents, result.Chunks, want)
	}
}
