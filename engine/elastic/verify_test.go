package elastic_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestWhatIsSearchedIsVerified changes documents behind the engine's back, in what the chunks
// are found by and not in the chunks.
func TestWhatIsSearchedIsVerified(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		e, prefix := open(t)
		kb := engine.KnowledgeBase{
			Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "elasticsearch", Kind: engine.KindChunks, Dimensions: 2,
			Analyzer: engine.AnalyzerJieba, Shared: shared,
		}
		var chunks []engine.Chunk
		for _, id := range []string{"a", "b", "c", "d"} {
			chunks = append(chunks, engine.Chunk{
				ID: id, DocumentID: "d", Available: true, Title: "on " + id, Content: "a refund of " + id, Owner: "anna",
				Metadata: map[string]any{"year": 2024.0, "tags": []any{"x", "y"}},
				Vectors:  map[string][]float32{engine.FieldVector: {1, 2}},
			})
		}
		create(t, e, kb, chunks...)
		verify := func(repair bool) *engine.Integrity {
			found, err := e.Verify(t.Context(), kb, repair)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := verify(false); !found.Sound() || found.Chunks != 4 || found.Engine != "elasticsearch" {
			t.Errorf("as written: %+v", found)
		}
		sized := func() bool {
			documents, err := e.Documents(t.Context(), kb, "", 10)
			if err != nil || len(documents) != 1 {
				t.Fatal(documents, err)
			}
			return documents[0].Bytes > 0
		}
		change := func(id, script string) {
			ask(t, http.MethodPost, devservices.Elasticsearch(t)+"/"+prefix+"-*/_update_by_query?refresh=true",
				`{"query": {"term": {"id": "`+id+`"}}, "script": {"source": "`+script+`"}}`)
		}
		if !sized() {
			t.Error("as written: the document has no size")
		}
		change("d", `ctx._source.meta.remove('%bytes')`) // as it was written before there were any
		if found := verify(false); !found.Sound() || found.Chunks != 4 || sized() {
			t.Errorf("without a size: %+v, sized %t", found, sized())
		}
		for id, script := range map[string]string{
			"a": `for (f in ctx._source.keySet()) { if (f.startsWith('text') && ctx._source[f] instanceof String) { ctx._source[f] = 'other words' } }`,
			"b": `ctx._source.owner = 'berta'`,
			"c": `ctx._source.remove('id')`,
		} {
			change(id, script)
		}
		found := verify(false)
		if found.Chunks != 1 || !slices.Equal(found.All, []string{"a", "b"}) || found.Damaged.Count != 3 ||
			!strings.Contains(found.Damaged.First[2], "no chunk") {
			t.Errorf(`shared %t: found %+v; want found.Chunks 1 and {"a", "b"} and found.Damaged.Count 3 and "no chunk" in it`, shared, found)
		}
		if found := verify(true); found.Damaged.Count != 2 {
			t.Errorf("with repair %+v; want two chunks to be written again", found)
		}
		create := engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}
		if _, err := e.Write(t.Context(), create); err != nil {
			t.Fatal(err)
		}
		if found := verify(false); !found.Sound() || found.Chunks != 4 {
			t.Errorf("written again: %+v", found)
		}
	}
}
