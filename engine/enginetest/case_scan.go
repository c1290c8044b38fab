package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// scanning holds an engine that can share a knowledge base with others to
// giving back whole what was written.
func scanning(t *testing.T, s *suite) {
	scanner, ok := s.engine.(engine.Scanner)
	if !ok {
		t.Fatal("the engine does not scan")
	}
	b := s.base(t, schema{Dimensions: 2})
	chunks := []engine.Chunk{
		passage("b", "two", 3, 4), passage("B", "one", 1, 0), passage("文", "four"), passage("b1", "three", 0, 1),
	}
	chunks[1].Available = false
	chunks[3].Metadata = map[string]any{"list": []any{"x", 1.5, true}}
	b.write(chunks...)
	scan := func(after string, ids []string, limit int) []engine.Chunk {
		t.Helper()
		found, err := scanner.Scan(t.Context(), engine.ScanRequest{KB: b.kb, After: after, IDs: ids, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	found := func(what string, found []engine.Chunk, want ...string) {
		t.Helper()
		var got []string
		for i := range found {
			got = append(got, found[i].ID)
		}
		same(t, what, got, want)
	}
	found("all of it", scan("", nil, 100), "B", "b", "b1", "文")
	found("a page", scan("", nil, 2), "B", "b")
	found("the next page", scan("b", nil, 2), "b1", "文")
	found("after the last", scan("文", nil, 2))
	found("some", scan("", []string{"文", "absent", "B"}, 100), "B", "文")
	found("none", scan("", []string{}, 100))

	all := scan("", nil, 100)
	if v := all[1].Vectors[engine.FieldVector]; len(v) != 2 || math.Abs(float64(v[0]/v[1])-0.75) > 1e-6 {
		t.Errorf("the vector came back as %v, want one along [3 4]", v)
	}
	if len(all[3].Vectors) != 0 {
		t.Errorf("a chunk without a vector came back with %v", all[3].Vectors)
	}
	all[2].Vectors, chunks[3].Vectors = nil, nil
	if got, want := fmt.Sprintf("%+v", all[2]), fmt.Sprintf("%+v", chunks[3]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
