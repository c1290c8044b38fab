package enginetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

func storeCases() []testCase {
	return []testCase{
		{"store/knowledge bases", knowledgeBases},
		{"store/writing to what does not exist", writeUnknown},
		{"store/a chunk comes back as it was written", roundTrip},
		{"store/replaced chunks", replacedChunk},
		{"store/deleted and written again", deletedChunk},
		{"store/an id twice in one write", duplicateIDs},
		{"store/replaced document", replacedDocument},
		{"store/hidden and shown again", hiddenChunk},
		{"store/describe", describe},
		{"store/scanning", scanning},
		{"store/what was deleted is not there again", deletedAmongOthers},
	}
}

func knowledgeBases(t *testing.T, s *suite) {
	kb := s.definition(schema{Dimensions: 3})
	b := s.create(t, kb)
	b.write(passage("a", "red", 1, 0, 0))
	if err := s.engine.CreateKnowledgeBase(t.Context(), kb); !fault.Is(err, fault.Conflict) {
		t.Errorf("creating it twice gave %v, want conflict", err)
	}
	listed := func() *engine.KnowledgeBase {
		all, err := s.engine.KnowledgeBases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(x engine.KnowledgeBase) bool { return x.Ref == kb.Ref })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	alone := func() error {
		finder, ok := s.engine.(engine.Finder)
		if !ok {
			return nil
		}
		got, err := finder.KnowledgeBase(t.Context(), kb.Ref)
		if err == nil && (got.Name != kb.Name || got.Dimensions != 3) {
			t.Errorf("read alone as %+v, made as %+v", got, kb)
		}
		return err
	}
	if err := alone(); err != nil {
		t.Errorf("reading it alone: %v", err)
	}
	countTenant(t, s, kb.Tenant, 1)
	found := listed()
	if found == nil || found.Dimensions != 3 || found.Kind != kb.Kind || found.Name != kb.Name ||
		found.Analyzer != kb.Analyzer {
		t.Errorf("listed as %+v, made as %+v", found, kb)
	}
	if err := s.engine.DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	if listed() != nil {
		t.Error("still listed after the delete")
	}
	if _, ok := s.engine.(engine.Finder); ok && !fault.Is(alone(), fault.NotFound) {
		t.Error("it is still read alone after the delete")
	}
	countTenant(t, s, kb.Tenant, 0)
	if err := s.engine.DeleteKnowledgeBase(t.Context(), kb.Ref); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleting it twice gave %v, want not_found", err)
	}
	again := s.create(t, kb)
	same(t, "made again, it is empty", again.ids(words(5, "red"), engine.Filter{}), []string{})
}

// countTenant compares how many chunks a tenant has, where the engine counts them.
func countTenant(t *testing.T, s *suite, tenant string, want int64) {
	t.Helper()
	counter, ok := s.engine.(engine.ChunkCounter)
	if !ok {
		return
	}
	if got, err := counter.CountChunks(t.Context(), tenant); err != nil || got != want {
		t.Errorf("the tenant has %d chunks, %v; want %d", got, err, want)
	}
}

func writeUnknown(t *testing.T, s *suite) {
	kb := s.definition(schema{})
	_, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{passage("a", "x")}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
	if _, err := s.engine.Describe(t.Context(), kb); !fault.Is(err, fault.NotFound) {
		t.Errorf("describing gave %v, want not_found", err)
	}
}

func roundTrip(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	c := passage("id", "<b>Content</b> & more\nlines 中文 😀", 1, 0)
	c.DocumentName, c.Ordinal, c.Title, c.Owner = "guide.md", 7, "A title", "u1"
	c.WrittenAt = "2026-11-28T16:00:00Z"
	c.Positions = [][]float64{{1, 72.5, 520, 90, 140}, {2, 1, 2, 3, 4}}
	c.Metadata = map[string]any{"s": "x", "n": 1.5, "b": true, "list": []any{"a", "b"}}
	b.write(c)
	got := b.chunk("id")
	c.Vectors = nil
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c) {
		t.Errorf("got  %+v\nwant %+v", got, c)
	}

	qa := s.base(t, schema{Kind: engine.KindQA})
	c = engine.Chunk{ID: "q", DocumentID: "d", Available: true, Title: "t", QA: &engine.QA{
		Question: "q?", Answer: "a", FullAnswer: "full", Summary: "s",
		URL: "u", Category: "c", Date: "2026-01-31", Group: "g",
	}}
	qa.write(c)
	if got := qa.chunk("q"); got.QA == nil || *got.QA != *c.QA {
		t.Errorf("got %+v, want %+v", got.QA, c.QA)
	}
}

// chunk fetches one chunk that must exist.
func (b *base) chunk(id string) engine.Chunk {
	b.t.Helper()
	chunks, err := b.engine.Chunks(b.t.Context(), engine.ChunksRequest{KB: b.kb, IDs: []string{id}, Hidden: true})
	if err != nil || len(chunks) != 1 {
		b.t.Fatalf("fetching %q gave %d chunks, %v", id, len(chunks), err)
	}
	return chunks[0]
}

func replacedChunk(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	first := b.write(passage("a", "red", 1, 0), passage("b", "red", 0, 1))
	changed := passage("a", "blue", -1, 0)
	changed.Metadata = map[string]any{"v": "new"}
	second := b.write(changed)
	if first[0].Status != engine.Created || second[0].Status != engine.Updated {
		t.Errorf("outcomes are %s, then %s", first[0].Status, second[0].Status)
	}
	same(t, "old word", b.ids(words(5, "red"), engine.Filter{}), []string{"b"})
	same(t, "new word", b.ids(words(5, "blue"), engine.Filter{}), []string{"a"})
	same(t, "new vector", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b", "a"})
	filter := engine.Filter{Conditions: []filter.Condition{in("v", "new")}}
	same(t, "new value", b.ids(near(5, 1, 0), filter), []string{"a"})
	b.write(passage("a", "blue"))
	same(t, "without its vector", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b"})
	same(t, "without its value", b.ids(words(5, "blue"), filter), []string{})
}

func deletedChunk(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red", 1, 0), passage("b", "red", 0, 1), passage("c", "red", 1, 1))
	n, err := s.engine.DeleteChunks(t.Context(), b.kb, []string{"a", "nosuch", "c"})
	if err != nil || n != 2 {
		t.Fatalf("deleting gave %d, %v", n, err)
	}
	same(t, "text", b.ids(words(5, "red"), engine.Filter{}), []string{"b"})
	same(t, "vector", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b"})
	if n, err = s.engine.DeleteChunks(t.Context(), b.kb, []string{"a"}); err != nil || n != 0 {
		t.Errorf("deleting again gave %d, %v", n, err)
	}
	if n, err = s.engine.DeleteChunks(t.Context(), b.kb, nil); err != nil || n != 0 {
		t.Errorf("deleting nothing gave %d, %v", n, err)
	}
	if out := b.write(passage("a", "red", 1, 0)); out[0].Status != engine.Created {
		t.Errorf("written again it is %s", out[0].Status)
	}
	same(t, "again there", b.ids(near(5, 1, 0), engine.Filter{}), []string{"a", "b"})
	if n, err = s.engine.DeleteDocument(t.Context(), b.kb, "doc-b"); err != nil || n != 1 {
		t.Errorf("deleting a document gave %d, %v", n, err)
	}
	if n, err = s.engine.DeleteDocument(t.Context(), b.kb, "doc-nosuch"); err != nil || n != 0 {
		t.Errorf("deleting an unknown document gave %d, %v", n, err)
	}
	same(t, "without the document", b.ids(words(5, "red"), engine.Filter{}), []string{"a"})
}

func duplicateIDs(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	out := b.write(passage("a", "red", 1, 0), passage("b", "green", 1, 0), passage("a", "blue", 0, 1))
	if out[0].Status != engine.Created || out[2].Status != engine.Updated {
		t.Errorf("outcomes are %s and %s, want created and updated", out[0].Status, out[2].Status)
	}
	same(t, "the earlier one is nowhere", b.ids(words(5, "red"), engine.Filter{}), []string{})
	same(t, "the later one is there", b.ids(words(5, "blue"), engine.Filter{}), []string{"a"})
	same(t, "with its vector", b.ids(near(5, 0, 1), engine.Filter{}), []string{"a", "b"})
	if d := b.describe(); d.Chunks != 2 {
		t.Errorf("%d chunks, want 2", d.Chunks)
	}
}

func replacedDocument(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	part := func(id, text string, ordinal int) engine.Chunk {
		c := passage(id, text, 1, float32(ordinal))
		c.DocumentID, c.Ordinal = "doc", ordinal
		return c
	}
	b.write(part("p0", "old zero", 0), part("p1", "old one", 1), part("p2", "old two", 2), passage("x", "old other", 0, 1))
	out := b.replace("doc", part("p0", "new zero", 0), part("p9", "new nine", 1))
	if out[0].Status != engine.Updated || out[1].Status != engine.Created {
		t.Errorf("outcomes are %+v", out)
	}
	same(t, "old text", b.ids(words(9, "old"), engine.Filter{}), []string{"x"})
	same(t, "new text", b.ids(words(9, "new"), engine.Filter{}), []string{"p0", "p9"})
	sameSet(t, "vectors", b.ids(near(9, 1, 0), engine.Filter{}), []string{"p0", "p9", "x"})
	b.replace("doc")
	same(t, "replaced by nothing", b.ids(words(9, "new"), engine.Filter{}), []string{})
	b.replace("fresh", part2("f", "fresh"))
	same(t, "a document that was not there", b.ids(words(9, "fresh"), engine.Filter{}), []string{"f"})
}

func part2(id, document string) engine.Chunk {
	c := passage(id, document)
	c.DocumentID = document
	return c
}

func hiddenChunk(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	c := passage("a", "red", 1, 0)
	c.Available = false
	b.write(c, passage("b", "red", 0, 1))
	same(t, "hidden from text", b.ids(words(5, "red"), engine.Filter{}), []string{"b"})
	same(t, "hidden from vectors", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b"})
	same(t, "hidden from ids", b.ids(words(5, "red"), engine.Filter{IDs: []string{"a"}}), []string{})
	c.Available = true
	b.write(c)
	same(t, "shown", b.ids(near(5, 1, 0), engine.Filter{}), []string{"a", "b"})
	c.Available = false
	b.write(c)
	same(t, "hidden again", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b"})
}

func (b *base) describe() *engine.Description {
	b.t.Helper()
	d, err := b.engine.Describe(b.t.Context(), b.kb)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func describe(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	if d := b.describe(); d.Chunks != 0 || d.Documents != 0 || d.Vectors != 0 {
		t.Errorf("an empty knowledge base holds %+v", d)
	}
	one, two := passage("a", "red", 1, 0), passage("b", "red")
	one.DocumentID, two.DocumentID = "d", "d"
	b.write(one, two, passage("c", "red", 0, 1))
	if d := b.describe(); d.Chunks != 3 || d.Documents != 2 || d.Vectors != 2 {
		t.Errorf("3 chunks of 2 documents with 2 vectors are described as %+v", d)
	}
}

// deletedAmongOthers: a chunk that is gone counts for nothing, also where others that were written with it are there.
func deletedAmongOthers(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	chunks := []engine.Chunk{passage("a", "red"), passage("b", "red"), passage("c", "red"), passage("d", "red")}
	b.write(chunks...)
	for i, want := range []int{1, 0} {
		if n, err := s.engine.DeleteChunks(t.Context(), b.kb, []string{"a"}); n != want || err != nil {
			t.Errorf("time %d: %d deleted, %v, want %d", i+1, n, err, want)
		}
	}
	same(t, "chosen by its id", b.ids(words(9, "red"), engine.Filter{IDs: []string{"a", "b"}}), []string{"b"})
	for _, want := range []engine.Status{engine.Created, engine.Updated} {
		if o := b.write(chunks[0]); o[0].Status != want {
			t.Errorf("written again it is %s, want %s", o[0].Status, want)
		}
	}
}

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
