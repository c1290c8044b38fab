package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// passagesPipeline has an empty knowledge base on a real engine.
func passagesPipeline(t *testing.T) *Pipeline {
	t.Helper()
	p, c, e := openEmbedded(t, t.TempDir())
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	two := 2
	if _, err := c.Create(ctx, acme, catalog.Spec{ID: passages, Dimensions: &two, EmbeddingModel: "e5"}); err != nil {
		t.Fatal(err)
	}
	return p
}

// library has documents d00 to d24 with 1 to 5 chunks; their names run against their ids.
func library(t *testing.T) *Pipeline {
	t.Helper()
	p := passagesPipeline(t)
	var text strings.Builder
	for d := range 25 {
		for i := range d%5 + 1 {
			fmt.Fprintf(&text, `{"id": "c%d-%d", "document_id": "d%02d", "document_name": "%s %02d.pdf", "ordinal": %d, "content": "%s", "owner": "o%d"}`+"\n",
				d, i, d, []string{"Ｒefund", "退貨說明"}[d%2], 99-d, i, strings.Repeat("word ", 1+d), d%2)
		}
	}
	if _, err := p.Stream(ctx, acme, Source{KB: passages, Lines: strings.NewReader(text.String()), AsIs: true},
		func(Result) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDocumentsInEveryOrder(t *testing.T) {
	p := library(t)
	f := func(listing Listing, total int, first ...string) {
		t.Helper()
		listing.KB = passages
		var ids []string
		for pages := 0; pages < 30; pages++ {
			got, err := p.ListDocuments(ctx, acme, listing)
			if err != nil {
				t.Fatal(err)
			}
			if got.Total != total || len(got.Documents) > listing.Limit {
				t.Fatalf("%+v: %d documents, total %d", listing, len(got.Documents), got.Total)
			}
			for _, d := range got.Documents {
				ids = append(ids, d.ID)
				if d.WithoutVectors != d.Chunks || d.Bytes == 0 {
					t.Errorf("%+v", d)
				}
			}
			if listing.After = got.Next; got.Next == "" {
				break
			}
		}
		if len(ids) != total || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != total {
			t.Errorf("%+v gave %d documents, or one twice: %v", listing, len(ids), ids)
		}
		if !slices.Equal(ids[:min(len(first), len(ids))], first) {
			t.Errorf("%+v begins %v, want %v", listing, ids[:len(first)], first)
		}
	}
	for _, limit := range []int{1, 4, 5, 25, 1000} {
		f(Listing{Limit: limit}, 25, "d00", "d01")
		f(Listing{Limit: limit, Sort: "id", Descending: true}, 25, "d24", "d23")
		f(Listing{Limit: limit, Sort: "name"}, 25, "d24", "d22")
		f(Listing{Limit: limit, Sort: "chunks", Descending: true}, 25, "d24", "d19", "d14")
		f(Listing{Limit: limit, Sort: "without_vectors"}, 25, "d00", "d05")
		f(Listing{Limit: limit, Sort: "size", Descending: true}, 25, "d24", "d19")
		f(Listing{Limit: limit, Sort: "name", Query: "REFUND"}, 13, "d24")
		f(Listing{Limit: limit, Query: "退货"}, 12, "d01") // written with other characters
		f(Listing{Limit: limit, Query: "D24"}, 1, "d24")
		f(Listing{Limit: limit, Query: "nothing"}, 0)
	}
	bound := acme
	bound.Filter = []filter.Condition{{Field: "owner", In: []filter.Value{{V: "o1"}}}}
	if got, err := p.ListDocuments(ctx, bound, Listing{KB: passages, Sort: "chunks", Limit: 3}); err != nil || got.Total != 12 {
		t.Errorf("a key with a filter sees %+v, %v; want no error and got.Total 12", got, err)
	}
	for _, bad := range []Listing{{Limit: 0}, {Limit: 1001}, {Limit: 1, Sort: "date"}, {Limit: 1, After: "d03"}, {Limit: 1, After: "bnVsbA"}} {
		bad.KB = passages
		if _, err := p.ListDocuments(ctx, acme, bad); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%+v: %v; want an error of kind InvalidArgument", bad, err)
		}
	}
	if _, err := p.ListDocuments(ctx, access.Scope{Tenant: "other"}, Listing{KB: passages, Limit: 1}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v; want an error of kind NotFound", err)
	}
}

func TestNumbersInNamesSortByTheirValue(t *testing.T) {
	b, err := newBest(&Listing{Sort: "name", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0", "2 files", "10 files", "Anna", "apple", "part 0", "part 3", "part 12", "Part 012b", "part 13",
		"part 999999999", "part 1000000000", "part 20000000000000000000", "part one", "Ｚebra", "zoo",
		"北京", "第 2 章", "第 10 章", "退貨說明",
	}
	for i, name := range want {
		b.add(&engine.Document{ID: fmt.Sprintf("d%02d", (7*i)%len(want)), Name: name})
	}
	b.cut()
	var got []string
	for i := range b.kept {
		got = append(got, b.kept[i].document.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The time at which a chunk was written follows its metadata and its content, not its vectors, and goes with it.
func TestWhenDocumentsWereWritten(t *testing.T) {
	p := library(t)
	const before = "2025-01-31T12:00:00Z"
	write := func(line string) {
		t.Helper()
		results, err := replace(p, passages, "d00", line)
		if err != nil || results[0].Error != nil {
			t.Fatal(results, err)
		}
	}
	f := func(after string, old bool) {
		t.Helper()
		got, err := p.ListDocuments(ctx, acme, Listing{KB: passages, Sort: "written_at", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if first := got.Documents[0]; (first.ID == "d00" && first.WrittenAt == before) != old || first.WrittenAt == "" {
			t.Errorf("after %s the first is %+v", after, first)
		}
	}
	f("writing", false)
	write(`{"id": "x", "content": "word", "written_at": "` + before + `"}`)
	f("an import", true)
	work, err := p.Reembed(ctx, acme, Reembedding{KB: passages, All: true})
	if err == nil {
		err = work(ctx, func(int, int) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	f("new vectors", true)
	bound := acme
	bound.Filter = []filter.Condition{{Field: engine.FieldWrittenAt, Range: &filter.Range{LT: &filter.Value{V: "2026"}}}}
	got, err := p.Documents(ctx, bound, passages, Page{Limit: 10})
	if err != nil || len(got) != 1 || got[0].WrittenAt != before {
		t.Errorf("a key that is bound to what is old sees %+v, %v; want no error and 1 got and got[0].WrittenAt before", got, err)
	}
	var line Chunk
	if err := p.Export(ctx, bound, Export{KB: passages}, func(c Chunk) error { line = c; return nil }); err != nil || line.WrittenAt != before {
		t.Errorf("exported %+v, %v; want no error and line.WrittenAt before", line, err)
	}
	patch := MetadataPatch{
		DocumentRef: DocumentRef{KB: passages, ID: "d00"}, Members: map[string]json.RawMessage{"year": json.RawMessage("2026")},
	}
	if _, err := p.PatchMetadata(ctx, acme, patch); err != nil {
		t.Fatal(err)
	}
	f("other metadata", false)
	write(`{"id": "x", "content": "word", "written_at": "` + before + `"}`)
	f("another import", true)
	write(`{"id": "x", "content": "other"}`)
	f("another text", false)
}

func TestReembedding(t *testing.T) {
	p := library(t)
	vectors := func() int {
		t.Helper()
		d, err := p.catalog.Describe(ctx, acme, passages)
		if err != nil {
			t.Fatal(err)
		}
		return d.Vectors
	}
	run := func(all bool) error {
		t.Helper()
		work, err := p.Reembed(ctx, acme, Reembedding{KB: passages, All: all})
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		err = work(ctx, func(done, total int) {
			if last = done; total != 75 {
				t.Errorf("%d of %d", done, total)
			}
		})
		if last != 75 {
			t.Errorf("ended at %d chunks; want last 75", last)
		}
		return err
	}
	embedder := p.embedder.(*fakeEmbedder)
	embedder.refuses = strings.Repeat("word ", 24)
	err := run(false)
	if vectors() != 70 || !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "of document d24") {
		t.Errorf(`%d vectors after %v; want vectors() 70 and an error of kind InvalidArgument and "of document d24" in it`, vectors(), err)
	}
	embedder.refuses, embedder.calls = "", nil
	if err := run(false); err != nil || vectors() != 75 || len(slices.Concat(embedder.calls...)) != 5 {
		t.Errorf("%d vectors by texts %d, %v; want no error and vectors() 75 and 5 slices.Concat(embedder.calls...)", vectors(), len(slices.Concat(embedder.calls...)), err)
	}
	if embedder.calls = nil; run(true) != nil || len(slices.Concat(embedder.calls...)) != 75 {
		t.Errorf("all anew took %d texts; want no run(true) and 75 slices.Concat(embedder.calls...)", len(slices.Concat(embedder.calls...)))
	}
	embedder.err = fault.New(fault.Unavailable, "away")
	work, err := p.Reembed(ctx, acme, Reembedding{KB: passages, All: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := work(ctx, func(int, int) {}); !fault.Is(err, fault.Unavailable) || vectors() != 75 {
		t.Errorf("without the model: %v, %d vectors", err, vectors())
	}
}

// What is written while its vector is made stays as it was written.
func TestReembeddingLeavesChangesAlone(t *testing.T) {
	p := library(t)
	target, err := p.writable(ctx, acme, passages)
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := target.scanner()
	if err != nil {
		t.Fatal(err)
	}
	read, err := scanner.Scan(ctx, engine.ScanRequest{KB: target.kb, IDs: []string{"c0-0", "c1-0", "c2-0"}, Limit: 3})
	if err != nil || len(read) != 3 {
		t.Fatal(read, err)
	}
	for i := range read {
		read[i].Vectors = map[string][]float32{engine.FieldVector: {1, 0}}
	}
	changed := read[1]
	changed.Content, changed.Vectors = "changed", nil
	if _, err := target.engine.Write(ctx, engine.WriteRequest{KB: target.kb, Chunks: []engine.Chunk{changed}}); err != nil {
		t.Fatal(err)
	}
	if _, err := target.engine.DeleteChunks(ctx, target.kb, []string{"c2-0"}); err != nil {
		t.Fatal(err)
	}
	if failed, err := target.writeVectors(ctx, read); err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	now, err := scanner.Scan(ctx, engine.ScanRequest{KB: target.kb, IDs: []string{"c0-0", "c1-0", "c2-0"}, Limit: 3})
	if err != nil || len(now) != 2 || now[0].Vectors == nil || now[1].Content != "changed" || now[1].Vectors[engine.FieldVector] != nil {
		t.Errorf(`%+v, %v; want no error and 2 now and a now[0].Vectors and now[1].Content "changed" and no now[1].Vectors[engine.FieldVector]`, now, err)
	}
}

func TestReembeddingIsRefused(t *testing.T) {
	f := func(p *Pipeline, kb string, want fault.Kind) {
		t.Helper()
		if _, err := p.Reembed(ctx, acme, Reembedding{KB: kb}); !fault.Is(err, want) {
			t.Errorf("%s: %v, want %s", kb, err, want)
		}
	}
	p := library(t)
	none := 0
	if _, err := p.catalog.Create(ctx, acme, catalog.Spec{ID: keywords, Dimensions: &none}); err != nil {
		t.Fatal(err)
	}
	two := 2
	if _, err := p.catalog.Create(ctx, acme, catalog.Spec{ID: foreign, Dimensions: &two, EmbeddingModel: "other"}); err != nil {
		t.Fatal(err)
	}
	f(p, keywords, fault.Unsupported)
	f(p, foreign, fault.Conflict)
	f(p, "nothing", fault.NotFound)
	f(New(p.catalog, nil, Options{}), passages, fault.Unsupported)
}
