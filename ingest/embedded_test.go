package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
)

// words is the simplest tokenizer that an engine takes.
type words struct{}

func (words) Terms(text string) []string { return strings.Fields(strings.ToLower(text)) }
func (words) Fold(text string) string    { return strings.ToLower(text) }
func (words) Fingerprint() string        { return "words" }

func openEmbedded(t *testing.T, folder string) (*Pipeline, *catalog.Catalog, *embedded.Engine) {
	t.Helper()
	e, err := embedded.Open(ctx, embedded.Options{Path: folder, Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New([]engine.Engine{e}, catalog.Options{})
	return New(c, &fakeEmbedder{}, Options{BatchLines: 10}), c, e
}

// On a real engine: written twice, killed between, opened again, nothing is
// doubled or lost.
func TestOnTheEmbeddedEngine(t *testing.T) {
	folder := t.TempDir()
	p, c, e := openEmbedded(t, folder)
	two := 2
	if _, err := c.Create(ctx, acme, catalog.Spec{ID: passages, Dimensions: &two, EmbeddingModel: "e5"}); err != nil {
		t.Fatal(err)
	}
	has := func(chunks, documents int) {
		t.Helper()
		d, err := c.Describe(ctx, acme, passages)
		if err != nil || d.Chunks != chunks || d.Documents != documents || d.Vectors != chunks {
			t.Errorf("%+v, %v; want %d chunks with vectors of %d documents", d, err, chunks, documents)
		}
	}
	stop := fmt.Errorf("stop")
	emitted := 0
	_, err := p.Stream(ctx, acme, Source{KB: passages, Lines: strings.NewReader(lines(95))}, func(Result) error {
		if emitted++; emitted == 33 {
			return stop
		}
		return nil
	})
	if err != stop { //nolint:errorlint // the very error that emit gave
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	p, c, e = openEmbedded(t, folder)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	results, summary, err := streamAll(p, passages, lines(95)+`{"id": "c1", "content": "later wins"}`)
	if err != nil || summary.Failed > 0 || summary.Created+summary.Updated != 96 || results[0].Status != engine.Updated {
		t.Errorf("%+v, %v; want no error and summary.Failed 0 and summary.Created + summary.Updated 96 and results[0].Status Updated", summary, err)
	}
	has(95, 95)
	if chunk, err := p.GetChunk(ctx, acme, passages, "c1"); err != nil || chunk.Content != "later wins" {
		t.Errorf(`%+v, %v; want no error and chunk.Content "later wins"`, chunk, err)
	}
	if _, err := replace(p, passages, "doc", strings.ReplaceAll(lines(5), `"id": "c`, `"id": "d`)); err != nil {
		t.Fatal(err)
	}
	has(100, 96)
	if _, err := replace(p, passages, "doc", strings.ReplaceAll(lines(2), `"id": "c`, `"id": "d`)); err != nil {
		t.Fatal(err)
	}
	has(97, 96)
	for _, want := range []FileStatus{FileWritten, FileUnchanged} {
		summary, err := p.Files(ctx, acme, FilesRequest{KB: passages, Paths: []string{"testdata/folder"}, Refresh: true}, nil)
		if err != nil || summary.Failed > 0 || (summary.Written == 4) != (want == FileWritten) {
			t.Errorf("%s: %+v, %v", want, summary, err)
		}
		has(105, 100)
	}
	if n, err := p.DeleteDocument(ctx, acme, DocumentRef{KB: passages, ID: "sub/page.html"}); err != nil || n != 2 {
		t.Errorf("%d, %v; want no error and n 2", n, err)
	}
	has(103, 99)
}
