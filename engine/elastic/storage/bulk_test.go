package storage

import (
	"net/http"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
)

func TestWhatBecameOfAnOperation(t *testing.T) {
	f := func(result bulkResult, want outcome) {
		t.Helper()
		got := result.outcome()
		if got.status != want.status || got.existed != want.existed || (got.err != nil) != (want.status == engine.Failed) {
			t.Errorf("%+v: %+v, want %+v", result, got, want)
		}
	}
	f(bulkResult{Status: http.StatusCreated, Result: "created"}, outcome{status: engine.Created})
	f(bulkResult{Status: http.StatusOK, Result: "updated"}, outcome{status: engine.Updated})
	f(bulkResult{Status: http.StatusOK, Result: "deleted"}, outcome{status: engine.Updated, existed: true})
	f(bulkResult{Status: http.StatusNotFound, Result: "not_found"}, outcome{status: engine.Updated})
	overtaken := &rest.Refusal{Type: "version_conflict_engine_exception"}
	f(bulkResult{Status: http.StatusConflict, Error: overtaken}, outcome{status: engine.Updated})
	f(bulkResult{Status: http.StatusBadRequest, Error: &rest.Refusal{}}, outcome{status: engine.Failed})
}

// TestOutcomesOfChunksOfOneID: only the last chunk of an id is written, but the outcomes
// are as if all had been, one after the other.
func TestOutcomesOfChunksOfOneID(t *testing.T) {
	failed := fault.New(fault.Unavailable, "it has gone")
	chunks := []engine.Chunk{{ID: "a"}, {ID: "b"}, {ID: "a"}}
	f := func(a, b engine.Status, err error, want ...engine.Status) {
		t.Helper()
		outcomes := []engine.WriteOutcome{{ID: "a"}, {ID: "b", Status: b}, {ID: "a", Status: a}}
		got, bad := fillOutcomes(outcomes, lastByID(chunks, nil), nil, err)
		if (bad != nil) != (want == nil) {
			t.Fatalf("%s, %s: %v", a, b, bad)
		}
		for i := range want {
			if got[i].Status != want[i] || (got[i].Err != nil) != (want[i] == engine.Failed) {
				t.Errorf("%s, %s: chunk %d is %s (%v), want %s", a, b, i, got[i].Status, got[i].Err, want[i])
			}
		}
	}
	f(engine.Created, engine.Created, nil, engine.Created, engine.Created, engine.Updated)
	f(engine.Updated, engine.Created, nil, engine.Updated, engine.Created, engine.Updated)
	f("", engine.Updated, failed, engine.Failed, engine.Updated, engine.Failed) // the second request failed
	f("", "", failed)                                                           // the first did
}
