package ingest

import (
	"io"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

func boundTo(conditions ...filter.Condition) access.Scope {
	return access.Scope{Tenant: "acme", Filter: conditions}
}

func in(field string, values ...string) filter.Condition {
	c := filter.Condition{Field: field}
	for _, v := range values {
		c.In = append(c.In, filter.Value{V: v})
	}
	return c
}

func notIn(field string, values ...string) filter.Condition {
	c := in(field, values...)
	c.Not = true
	return c
}

// boundPipeline has a knowledge base on a real engine with a document of two owners.
func boundPipeline(t *testing.T) *Pipeline {
	t.Helper()
	p := passagesPipeline(t)
	_, _, err := streamAll(p, passages, `{"id": "mine", "document_id": "both", "owner": "anna", "content": "anna's"}
{"id": "foreign", "document_id": "both", "owner": "bert", "content": "bert's"}`)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestABoundKeyChangesItsOwnChunksAlone: an id that somebody else's chunk has is not its to take, and a document with
// such a chunk not its to replace.
func TestABoundKeyChangesItsOwnChunksAlone(t *testing.T) {
	p, anna := boundPipeline(t), boundTo(in("owner", "anna"))
	line := func(id, owner string) string {
		return `{"id": "` + id + `", "document_id": "both", "owner": "` + owner + `", "content": "new"}` + "\n"
	}
	var results []Result
	summary, err := p.Stream(ctx, anna, Source{
		KB: passages, Lines: strings.NewReader(line("foreign", "anna") + line("mine", "anna") + line("other", "bert") + line("next", "anna")),
	}, func(r Result) error {
		results = append(results, r)
		return nil
	})
	if err != nil || len(results) != 4 || summary.Failed != 2 {
		t.Fatalf("%+v, %+v, %v; want no error and 4 results and summary.Failed 2", results, summary, err)
	}
	for i, forbidden := range []bool{true, false, true, false} {
		if failed := results[i].Status == engine.Failed; failed != forbidden {
			t.Errorf("line %d: %+v, want it refused: %v", i+1, results[i], forbidden)
		}
	}
	both := DocumentRef{KB: passages, ID: "both"}
	for lines, says := range map[string]string{
		line("mine", "anna"): "has chunks that this key may not change", line("foreign", "anna"): "is not one that this key may change",
	} {
		_, err := p.ReplaceDocument(ctx, anna, Replacement{DocumentRef: both, Lines: strings.NewReader(lines)})
		wantKind(t, err, fault.Forbidden, says)
	}
	_, err = p.DocumentChunks(ctx, anna, both, Page{After: "foreign", Limit: 5})
	wantKind(t, err, fault.NotFound)
	if n, err := p.DeleteChunks(ctx, anna, passages, []string{"foreign", "mine"}); n != 1 || err != nil {
		t.Errorf("%d chunks deleted, %v; want that of anna alone", n, err)
	}
	for id, want := range map[string]string{"foreign": "bert's", "next": "new", "mine": "", "other": ""} {
		c, err := p.GetChunk(ctx, acme, passages, id)
		if (want == "") != fault.Is(err, fault.NotFound) || err == nil && (c.Content != want || (c.Owner == "bert") != (id == "foreign")) {
			t.Errorf("%s is %+v, %v; want %q", id, c, err, want)
		}
	}
}

// TestWhatAFileIsGivenByAFilter: a file says nothing of its owner or its metadata, so it gets the one value that the
// filter of the key wants, and none where it wants one of several or only forbids some.
func TestWhatAFileIsGivenByAFilter(t *testing.T) {
	text := "a text"
	f := func(scope access.Scope, owner string, team any, forbidden bool) {
		t.Helper()
		fake := newFakeEngine()
		p := newPipeline(fake, nil, Options{})
		_, err := p.File(ctx, scope, FileUpload{KB: passages, File: File{
			ID: "a.md", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
		}})
		if fault.Is(err, fault.Forbidden) != forbidden || err == nil && len(fake.chunks) != 1 {
			t.Errorf("%+v: %v, %d chunks", scope.Filter, err, len(fake.chunks))
		}
		for _, c := range fake.chunks {
			if c.Owner != owner || c.Metadata["team"] != team {
				t.Errorf("%+v: the owner is %q, the team %v", scope.Filter, c.Owner, c.Metadata["team"])
			}
		}
	}
	f(acme, "", nil, false)
	f(boundTo(in("owner", "anna")), "anna", nil, false)
	f(boundTo(in("owner", "anna"), in("team", "red")), "anna", "red", false)
	f(boundTo(notIn("owner", "bert"), notIn("team", "blue")), "", nil, false)
	f(boundTo(in("team", "red", "blue")), "", nil, true)
	f(boundTo(in("team", "red"), notIn("team", "red")), "", nil, true)
	text = "---\nteam: blue\n---\na text" // which says so itself
	f(acme, "", "blue", false)
	f(boundTo(in("team", "red")), "", nil, true)
	f(boundTo(in("team", "blue")), "", "blue", false)
}
