package search_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/search"
)

// counted searches 190 chunks of few documents, the i-th a chunk of document i² mod 241.
func counted(t *testing.T, change func(*search.Request)) *search.Response {
	t.Helper()
	request := search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "script_score", TopK: new(10),
		Vector: make([]float32, 384),
	}
	change(&request)
	e := newStill(190, 190, true)
	for i := range e.result.Hits {
		hit := &e.result.Hits[i]
		chunk := e.chunks[hit.ID]
		hit.DocumentID = fmt.Sprint("document ", i*i%241)
		chunk.DocumentID = hit.DocumentID
		e.chunks[hit.ID] = chunk
	}
	response, err := searcherOver(e).Search(t.Context(), scope, request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestDocumentsAreCountedInOrder: most chunks first, those of as many by the best.
func TestDocumentsAreCountedInOrder(t *testing.T) {
	response := counted(t, func(r *search.Request) { r.TopK = new(190) })
	var want []search.DocumentCount
	for _, hit := range response.Hits {
		at := slices.IndexFunc(want, func(d search.DocumentCount) bool { return d.DocumentID == hit.DocumentID })
		if at < 0 {
			at = len(want)
			want = append(want, search.DocumentCount{DocumentID: hit.DocumentID, DocumentName: hit.DocumentName})
		}
		want[at].Count++
	}
	slices.SortStableFunc(want, func(a, b search.DocumentCount) int { return b.Count - a.Count })
	if len(want) < 50 || want[0].Count == want[len(want)-1].Count || !slices.Equal(response.Documents, want) {
		t.Errorf("documents %+v\nwant %+v", response.Documents, want)
	}
}

// TestTotalsSayWhetherMoreMayPass: an engine that gave as many as it was asked for may
// have more, unless a threshold cut the last of them.
func TestTotalsSayWhetherMoreMayPass(t *testing.T) {
	f := func(name, relation string, change func(*search.Request)) {
		t.Helper()
		if got := counted(t, change).Total; got.Relation != relation || got.Value == 0 {
			t.Errorf("%s: total %+v, want relation %s", name, got, relation)
		}
	}
	f("all found", "eq", func(r *search.Request) { r.Candidates = new(191) })
	f("as many as asked for", "gte", func(r *search.Request) { r.Candidates = new(190) })
	f("more than asked for in all", "gte", func(r *search.Request) {
		r.KnowledgeBases, r.Candidates = []string{"manuals", "more"}, new(200)
	})
	f("the last cut", "eq", func(r *search.Request) { r.Candidates, r.Threshold.Relative = new(190), new(0.9) })
}
