package elastic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestFailuresOfTheRealServerAreSeen: a shard that fails, and a search that
// fails within an _msearch, both in answers of status 200 and with what the
// engine does not read left out.
func TestFailuresOfTheRealServerAreSeen(t *testing.T) {
	e, kb := ragflow(t)
	server, beside := devservices.Elasticsearch(t), kb.Attach.Index+"-beside"
	put := func(index string) {
		t.Helper()
		ask(t, http.MethodPut, server+"/"+beside, index)
		lines := strings.ReplaceAll(ragflowChunks, `"_id": "r`, `"_id": "b`)
		ask(t, http.MethodPost, server+"/"+beside+"/_bulk?refresh=true", lines)
	}
	legs := &engine.Request{Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 10, Text: refundOnly()},
		{Name: "vector", Field: engine.FieldVector, K: 10, Vector: []float32{2, 0, 0}},
	}}
	sum := &engine.Request{Legs: legs.Legs, Sum: &engine.Sum{Candidates: 10, Weights: []float64{1, 1}}}
	put(ragflowIndex)
	kb.Attach.Index += "*"
	legs.KB, sum.KB = kb, kb
	result, err := e.Search(t.Context(), legs)
	if err != nil || len(result.Hits) != 6 || result.Legs[1].Err != nil {
		t.Fatalf("before: %+v, %v; want no error and 6 result.Hits and no error", result, err)
	}

	ask(t, http.MethodDelete, server+"/"+beside, "")
	put(strings.ReplaceAll(ragflowIndex, `"dense_vector", "dims": 3, "similarity": "cosine", "index": true`, `"keyword"`))
	if result, err = e.Search(t.Context(), legs); err != nil || result.Legs[0].Err != nil || result.Legs[1].Err == nil {
		t.Errorf("legs: %+v, %v, want that of the vector alone to fail", result, err)
	}
	if result, err = e.Search(t.Context(), sum); err == nil {
		t.Errorf("sum: %+v, want an error", result)
	}
}

// TestAnIndexThatWentAwayIsNotFound: within an _msearch, each search has its own error.
func TestAnIndexThatWentAwayIsNotFound(t *testing.T) {
	e, prefix := open(t)
	kb := manuals()
	create(t, e, kb)
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	if _, err := e.Search(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	ask(t, http.MethodDelete, devservices.Elasticsearch(t)+"/"+prefix+"-kb-acme-manuals-v1", "")
	if _, err := e.Search(t.Context(), req); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
}
