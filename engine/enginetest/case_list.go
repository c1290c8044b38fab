package enginetest

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

func listCases() []testCase {
	return []testCase{
		{"list/documents by pages", pagedDocuments},
		{"list/a document's chunks by pages", pagedChunks},
	}
}

func pagedDocuments(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 1})
	var chunks []engine.Chunk
	for d := range 7 {
		for i := range d%3 + 1 {
			c := passage(fmt.Sprintf("c%d-%d", d, i), "word", 1)
			if i == 1 { // only its words are found
				c.Vectors = nil
			}
			c.DocumentID, c.DocumentName, c.Ordinal = fmt.Sprintf("d%d", d), fmt.Sprintf("name %d", d), i
			c.Available = i > 0
			chunks = append(chunks, c)
		}
	}
	b.write(chunks...)
	after, seen := "", 0
	for range 10 {
		page, err := s.engine.Documents(t.Context(), b.kb, after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > 3 {
			t.Fatalf("%d documents for a limit of 3", len(page))
		}
		for _, d := range page {
			want := engine.Document{ID: fmt.Sprintf("d%d", seen), Name: fmt.Sprintf("name %d", seen), Chunks: seen%3 + 1}
			want.WithoutVectors = min(want.Chunks-1, 1)
			if want.Bytes = d.Bytes; d != want || d.Bytes < 0 || d.Bytes == 0 && s.engine.Name() != "elasticsearch" {
				t.Errorf("got %+v, want %+v", d, want)
			}
			seen++
			after = d.ID
		}
		if len(page) < 3 {
			break
		}
	}
	if seen != 7 {
		t.Errorf("%d documents, want 7", seen)
	}
}

func pagedChunks(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 1})
	var chunks []engine.Chunk
	for i := range 9 {
		c := passage(fmt.Sprintf("c%d", 9-i), fmt.Sprint("text ", i), 1)
		c.DocumentID, c.Ordinal, c.Available = "d", i/2, i%2 == 0
		chunks = append(chunks, c)
	}
	b.write(append(chunks, passage("other", "text", 1))...)
	list := func(from, to, limit int, after string) []string {
		page, err := s.engine.DocumentChunks(t.Context(), engine.DocumentChunksRequest{
			KB: b.kb, DocumentID: "d", From: from, To: to, After: after, Limit: limit,
		})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range page {
			if c.Vectors != nil {
				t.Errorf("chunk %q came with its vector", c.ID)
			}
			ids = append(ids, c.ID)
		}
		return ids
	}
	// Ordinals 0, 0, 1, 1, … belong to c9, c8, c7, c6, …
	all := []string{"c8", "c9", "c6", "c7", "c4", "c5", "c2", "c3", "c1"}
	same(t, "all, by ordinal, then id", list(0, -1, 100, ""), all)
	same(t, "a range of ordinals", list(1, 2, 100, ""), []string{"c6", "c7", "c4", "c5"})
	same(t, "a range with a limit", list(1, 3, 3, ""), []string{"c6", "c7", "c4"})
	same(t, "continued", list(1, 3, 3, "c4"), []string{"c5", "c2", "c3"})
	same(t, "past the end", list(50, -1, 3, ""), nil)
	var paged []string
	for after := ""; ; after = paged[len(paged)-1] {
		page := list(0, -1, 2, after)
		if paged = append(paged, page...); len(page) < 2 || len(paged) > 20 {
			break
		}
	}
	same(t, "page by page", paged, all)
}
