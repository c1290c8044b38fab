package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/config"
)

// together runs something several times at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// editedSets are what people edit with versions: a body of a save, all but its base_version.
var editedSets = map[string]string{
	"/v1/synonyms/k":    `"text": "a, b"`,
	"/v1/rules/k":       `"rules": [{"name": "r", "when": {"match": "exact", "queries": ["q"]}, "pin": [{"chunk_id": "c1"}]}]`,
	presetsPath + "/p1": `"definition": {"base": "rrf", "top_k": 5}`,
}

// TestOfTwoEditorsOneIsTold: a page that loaded version 1 neither saves over version 2, nor goes back from it, nor
// deletes it; it is told whose that is. Of many who save at once over the same version one succeeds.
func TestOfTwoEditorsOneIsTold(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Keys = []config.Key{{Name: "anna", Key: "anna", Tenant: "acme"}, {Name: "bert", Key: "bert", Tenant: "acme"}}
	b := &bound{running: run(t, c)}
	b.as("anna", http.MethodPost, "/v1/knowledge-bases", `{"id": "k", "dimensions": 0}`, http.StatusCreated)
	for path, body := range editedSets {
		save := func(key string, base, want int) string {
			return b.as(key, http.MethodPut, path, fmt.Sprintf(`{%s, "base_version": %d}`, body, base), want)
		}
		told := func(what, answer string) {
			t.Helper()
			if !strings.Contains(answer, "version 2 is in use, saved by bert at 20") ||
				!strings.Contains(answer, `"field":"base_version"`) {
				t.Errorf("%s %s: %s", what, path, answer)
			}
		}
		save("anna", 0, http.StatusOK)
		save("bert", 1, http.StatusOK)
		told("saving", save("anna", 1, http.StatusConflict))
		told("going back of", b.as("anna", http.MethodPost, path+"/rollback", `{"version": 1, "base_version": 1}`, http.StatusConflict))
		if strings.HasPrefix(path, presetsPath) {
			told("deleting", b.as("anna", http.MethodDelete, path+"?base_version=1", "", http.StatusConflict))
		}
		var won atomic.Int32
		together(8, func(int) {
			if status, _ := b.send("anna", http.MethodPut, path, asJSON, fmt.Sprintf(`{%s, "base_version": 2}`, body)); status == http.StatusOK {
				won.Add(1)
			}
		})
		if won.Load() != 1 {
			t.Errorf("%s: %d of 8 saved over version 2, want 1", path, won.Load())
		}
		if now := b.as("anna", http.MethodGet, path, "", http.StatusOK); !strings.Contains(now, `"version":3`) {
			t.Errorf("%s: %s, want version 3", path, now)
		}
	}
	b.as("bert", http.MethodDelete, presetsPath+"/p1?base_version=3", "", http.StatusNoContent)
	preset := func(base, want int) {
		b.as("anna", http.MethodPut, presetsPath+"/p1", fmt.Sprintf(`{%s, "base_version": %d}`, editedSets[presetsPath+"/p1"], base), want)
	}
	preset(3, http.StatusConflict)
	preset(0, http.StatusOK)
	preset(1, http.StatusConflict) // the version of the one that was deleted
}

// TestNoSetOutlivesItsKnowledgeBase: what is saved while a knowledge base is being deleted goes with it.
func TestNoSetOutlivesItsKnowledgeBase(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	for i := range 20 {
		kb := fmt.Sprintf("k%d", i)
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
		together(5, func(i int) {
			switch {
			case i == 2:
				r.must(http.MethodDelete, basePath(kb), nil, nil)
			default:
				r.ask(http.MethodPut, "/v1/synonyms/"+kb, `{"text": "a, b"}`)
			}
		})
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
		var set struct{ Version int }
		if r.must(http.MethodGet, "/v1/synonyms/"+kb, nil, &set); set.Version != 0 {
			t.Errorf("%s begins with version %d", kb, set.Version)
		}
	}
}
