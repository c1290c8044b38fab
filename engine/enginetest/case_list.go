package enginetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func listCases() []testCase {
	return []testCase{
		{"list/documents by pages", pagedDocuments},
		{"list/when documents were written", datedDocuments},
		{"list/documents of several names", namedDocuments},
		{"list/a document's chunks by pages", pagedChunks},
		{"list/ids are in the order of their bytes", idsByBytes},
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
			if want.Bytes = d.Bytes; d != want || d.Bytes <= 0 {
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

// documents lists all, a page after the other.
func (b *base) documents(limit int) []engine.Document {
	b.t.Helper()
	var all []engine.Document
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := b.engine.Documents(b.t.Context(), b.kb, after, limit)
		if err != nil || len(page) > limit || len(all) > 1000 {
			b.t.Fatalf("%d documents for a limit of %d, %v", len(page), limit, err)
		}
		if all = append(all, page...); len(page) < limit {
			return all
		}
	}
}

// idsByBytes: pages go on where the last one ended, so that ids have one order everywhere, which is none of a language.
func idsByBytes(t *testing.T, s *suite) {
	want := []string{"A-", "B", "_", "a", "a-b", "a_", "ab", "b", "é", "中"}
	b := s.base(t, schema{Dimensions: 1})
	var alone, together []engine.Chunk
	for i := range want {
		id := want[(i*7+3)%len(want)]
		alone = append(alone, engine.Chunk{ID: "1" + id, DocumentID: id, DocumentName: id, Available: true, Content: "alone"})
		c := passage(id, "word", 1)
		c.DocumentID, c.DocumentName = "zz", "name of "+id
		together = append(together, c)
	}
	b.write(append(alone, together...)...)
	for _, limit := range []int{1, 3, 100} {
		var documents []string
		for _, d := range b.documents(limit) {
			documents = append(documents, d.Name)
		}
		same(t, "documents", documents, append(want[:8:8], "name of A-", "é", "中"))
		var chunks []string
		request := engine.DocumentChunksRequest{KB: b.kb, DocumentID: "zz", To: -1, Limit: limit}
		for page, err := range engine.DocumentPages(t.Context(), s.engine, request) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range page {
				chunks = append(chunks, page[i].ID)
			}
		}
		same(t, "chunks of one place", chunks, want)
	}
	same(t, "chosen by what they hold", b.selected(engine.OfDocument("zz")), want)
	for _, k := range []int{3, 9} {
		same(t, "of the same distance", b.ids(near(k, 1), engine.Filter{}), want[:k])
		same(t, "of the same words", b.ids(words(k, "word"), engine.Filter{}), want[:k])
	}
}

func datedDocuments(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	var chunks []engine.Chunk
	f := func(document string, metadata any, dates ...string) {
		for i, date := range dates {
			c := passage(fmt.Sprint(document, i), "word")
			c.DocumentID, c.Ordinal, c.WrittenAt = document, i, date
			if metadata != nil {
				c.Metadata = map[string]any{"written_at": metadata}
			}
			chunks = append(chunks, c)
		}
	}
	const early, late = "2025-01-31T12:00:00Z", "2026-11-28T16:00:00Z"
	f("a", nil, early, late, early)
	f("b", nil, "", "") // of before times were kept
	f("c", nil, "", early)
	f("d", []any{"x", "2027-01-01T00:00:00Z"}, early, late) // metadata of that name are none
	f("e", []any{"2026", "yesterday"}, "", "")
	b.write(chunks...)
	for _, limit := range []int{1, 2, 100} {
		var got []string
		for _, d := range b.documents(limit) {
			got = append(got, fmt.Sprint(d.ID, " ", d.Chunks, " ", d.WrittenAt))
		}
		same(t, "documents", got, []string{"a 3 " + late, "b 2 ", "c 2 " + early, "d 2 " + late, "e 2 "})
	}
	again := b.chunk("a0")
	if again.WrittenAt != early {
		t.Errorf("it was written at %q", again.WrittenAt)
	}
	again.WrittenAt = "2027-01-01T00:00:00Z"
	b.write(again)
	if got := b.documents(1)[0].WrittenAt; got != again.WrittenAt {
		t.Errorf("a document of which a chunk was written again has %q", got)
	}
}

// namedDocuments: a document is named by its first chunk by ordinal, then id, which may have none.
func namedDocuments(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 1})
	var chunks []engine.Chunk
	f := func(document string, ordinals []int, names ...string) {
		for i, name := range names {
			c := passage(fmt.Sprint(document, i), "word", 1)
			c.DocumentID, c.DocumentName, c.Ordinal = document, name, ordinals[i]
			if i == 1 {
				c.Vectors = nil
			}
			chunks = append(chunks, c)
		}
	}
	f("a", []int{0, 1, 2}, "z", "y", "x")
	f("b", []int{2, 1, 0}, "z", "y", "x")
	f("c", []int{0, 0, 0}, "m", "a", "z") // the first id decides
	f("d", []int{0, 1, 1}, "", "a", "b")
	f("e", []int{7}, "")
	f("f", []int{1, 0, 0}, "a", "", "b")
	b.write(chunks...)
	for _, limit := range []int{1, 2, 5, 100} {
		var got []string
		for _, d := range b.documents(limit) {
			got = append(got, fmt.Sprintf("%s %q %d %d", d.ID, d.Name, d.Chunks, d.WithoutVectors))
		}
		same(t, "documents", got, []string{`a "z" 3 1`, `b "x" 3 1`, `c "m" 3 1`, `d "" 3 1`, `e "" 1 0`, `f "" 3 1`})
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
	_, err := s.engine.DocumentChunks(t.Context(), engine.DocumentChunksRequest{
		KB: b.kb, DocumentID: "d", To: -1, After: "other", Limit: 2,
	})
	var gone *fault.Error
	if !errors.As(err, &gone) || gone.Kind != fault.NotFound || gone.Field != "" {
		t.Errorf("continued after a chunk of another document: %v", err)
	}
	var seen []string
	request := engine.DocumentChunksRequest{KB: b.kb, DocumentID: "d", To: -1, Limit: 2}
	for page, err := range engine.DocumentPages(t.Context(), s.engine, request) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			seen = append(seen, c.ID)
		}
		if len(page) > 0 { // as somebody does who deletes what was read
			if _, err := s.engine.DeleteChunks(t.Context(), b.kb, []string{page[len(page)-1].ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, "whole, while chunks are deleted", seen, all)
}
