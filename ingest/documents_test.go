package ingest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

func replace(p *Pipeline, kb, id, input string) ([]Result, error) {
	return p.ReplaceDocument(ctx, acme, Replacement{
		DocumentRef: DocumentRef{KB: kb, ID: id}, Lines: strings.NewReader(input),
	})
}

func TestReplaceDocument(t *testing.T) {
	fake, embedder := newFakeEngine(), &fakeEmbedder{}
	p := newPipeline(fake, embedder, Options{BatchLines: 2})
	has := func(want ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(fake.chunks)); !slices.Equal(got, want) {
			t.Errorf("chunks %v, want %v", got, want)
		}
	}
	if _, err := replace(p, passages, "d", lines(5)); err != nil {
		t.Fatal(err)
	}
	has("c0", "c1", "c2", "c3", "c4")
	if c := fake.chunks["c4"]; c.DocumentID != "d" || c.Ordinal != 4 || c.Vectors["vector"] == nil {
		t.Errorf(`%+v; want c.DocumentID "d" and c.Ordinal 4 and a c.Vectors["vector"]`, c)
	}
	if len(embedder.calls) != 3 {
		t.Errorf("5 texts by 2 were embedded in %d calls; want 3 embedder.calls", len(embedder.calls))
	}
	results, err := replace(p, passages, "d", lines(2)+`{"id": "new", "document_id": "d", "content": "x"}`)
	if err != nil || len(results) != 3 || results[0].Status != "updated" || results[2].Status != "created" {
		t.Errorf(`%+v, %v; want no error and 3 results and results[0].Status "updated" and results[2].Status "created"`, results, err)
	}
	has("c0", "c1", "new")

	bad := func(kb, input string, kind fault.Kind, parts ...string) {
		t.Helper()
		_, err := replace(p, kb, "d", input)
		wantKind(t, err, kind, parts...)
		has("c0", "c1", "new")
	}
	bad(passages, lines(2)+`{"id": "x"}`, fault.InvalidArgument, "line 3", "content")
	bad(passages, lines(1)+`{"id": "x", "document_id": "e", "content": "x"}`, fault.InvalidArgument, "line 2", `"d" or left out`)
	bad(passages, "\n", fault.InvalidArgument, "no chunk")
	bad(attached, lines(1), fault.ReadOnly)
	bad("nope", lines(1), fault.NotFound)
	bad(foreign, lines(1), fault.Conflict, "line 1")
	_, err = replace(p, passages, "", lines(1))
	wantKind(t, err, fault.InvalidArgument, "document_id")
	embedder.err = fault.New(fault.Unavailable, "embedding service unavailable")
	bad(passages, lines(4), fault.Unavailable, "embedding service unavailable")
	small := newPipeline(fake, nil, Options{MaxDocument: 100})
	_, err = replace(small, passages, "d", lines(50))
	wantKind(t, err, fault.TooLarge, "100 bytes")
}

func TestDocumentsAndChunks(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{})
	input := `{"id": "a0", "document_id": "a", "content": "x"}
{"id": "a1", "document_id": "a", "content": "y", "available": false}
{"id": "b0", "document_id": "b", "content": "z"}`
	if _, _, err := streamAll(p, passages, input); err != nil {
		t.Fatal(err)
	}
	documents, err := p.Documents(ctx, acme, passages, Page{Limit: 10})
	if err != nil || len(documents) != 2 || documents[0].Chunks != 2 {
		t.Errorf("%+v, %v; want no error and 2 documents and documents[0].Chunks 2", documents, err)
	}
	a := DocumentRef{KB: passages, ID: "a"}
	chunks, err := p.DocumentChunks(ctx, acme, a, Page{Limit: 10})
	if err != nil || len(chunks) != 2 || chunks[1].ID != "a1" {
		t.Errorf(`%+v, %v; want no error and 2 chunks and chunks[1].ID "a1"`, chunks, err)
	}
	if chunks, err := p.DocumentChunks(ctx, acme, a, Page{Limit: 10, After: "a1"}); err != nil || len(chunks) != 0 {
		t.Errorf("past the end: %+v, %v; want no error and no chunks", chunks, err)
	}
	if c, err := p.GetChunk(ctx, acme, passages, "a1"); err != nil || c.Content != "y" {
		t.Errorf(`%+v, %v; want no error and c.Content "y"`, c, err)
	}
	_, err = p.GetChunk(ctx, acme, passages, "nope")
	wantKind(t, err, fault.NotFound, `chunk "nope"`)
	_, err = p.DocumentChunks(ctx, acme, DocumentRef{KB: passages, ID: "nope"}, Page{Limit: 1})
	wantKind(t, err, fault.NotFound, `document "nope"`)
	for _, limit := range []int{0, -1, 1001} {
		_, err = p.Documents(ctx, acme, passages, Page{Limit: limit})
		wantKind(t, err, fault.InvalidArgument, "limit", "1 to 1000")
		_, err = p.DocumentChunks(ctx, acme, a, Page{Limit: limit})
		wantKind(t, err, fault.InvalidArgument, "limit")
	}
	if n, err := p.DeleteChunks(ctx, acme, passages, []string{"b0", "nope"}); err != nil || n != 1 {
		t.Errorf("%d, %v; want no error and n 1", n, err)
	}
	if n, err := p.DeleteDocument(ctx, acme, a); err != nil || n != 2 {
		t.Errorf("%d, %v; want no error and n 2", n, err)
	}
	_, err = p.DeleteDocument(ctx, acme, a)
	wantKind(t, err, fault.NotFound)
}

func TestEveryCallKeepsToTheScope(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{})
	if _, _, err := streamAll(p, passages, lines(1)); err != nil {
		t.Fatal(err)
	}
	ref := DocumentRef{KB: passages, ID: "c0"}
	calls := map[string]func(access.Scope) error{
		"ReplaceDocument": func(s access.Scope) error {
			_, err := p.ReplaceDocument(ctx, s, Replacement{DocumentRef: ref, Lines: strings.NewReader(lines(1))})
			return err
		},
		"DeleteDocument": func(s access.Scope) error { _, err := p.DeleteDocument(ctx, s, ref); return err },
		"DeleteChunks":   func(s access.Scope) error { _, err := p.DeleteChunks(ctx, s, passages, []string{"c0"}); return err },
		"Documents":      func(s access.Scope) error { _, err := p.Documents(ctx, s, passages, Page{Limit: 1}); return err },
		"DocumentChunks": func(s access.Scope) error { _, err := p.DocumentChunks(ctx, s, ref, Page{Limit: 1}); return err },
		"GetChunk":       func(s access.Scope) error { _, err := p.GetChunk(ctx, s, passages, "c0"); return err },
	}
	for name, call := range calls {
		for _, scope := range []access.Scope{{Tenant: "other"}, {Tenant: "acme", KnowledgeBases: []string{pairs}}} {
			if err := call(scope); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s by %+v: %v, want not_found", name, scope, err)
			}
		}
	}
	if len(fake.chunks) != 1 {
		t.Error("another scope changed the chunks")
	}
}
