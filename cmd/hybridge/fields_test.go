package main

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/fieldcheck"
)

// untried are operations that are not asked with wrong values: what streams without an end, and keys, which would end the rest.
var untried = []string{"mcp", "job-events", "load-demo", "create-key", "rotate-key", "revoke-key"}

// sound are bodies that their operations take, where no schema says enough for one.
var sound = map[string]string{
	"search":           `{"query": "refund", "knowledge_bases": ["shop"], "signals": [{"number": {"field": "page", "shape": "saturation", "pivot": 1}, "weight": 1}]}`,
	"compare":          `{"query": "refund", "knowledge_bases": ["shop"], "columns": [{}, {}]}`,
	"search-batch":     `{"searches": [{"query": "refund", "knowledge_bases": ["shop"]}]}`,
	"start-evaluation": `{"query_set": "s1", "judgments": "l1", "systems": [{"name": "a", "request": {"preset": "text"}}]}`,
	"start-tuning":     `{"query_set": "s1", "judgments": "l1"}`,
	"create-experiment": `{"id": "x1", "name": "x", "knowledge_bases": ["shop"], "mode": "split", "unit": "user", "traffic": 1, "start": "2026-11-01T00:00:00Z", "end": "2026-12-31T00:00:00Z",
		"guard_rails": [{"metric": "latency_ms", "at_most": 1000}], "variants": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5, "request": {"preset": "text"}}]}`,
	"needed-experiment": `{"experiment": {"id": "x1", "mode": "split", "unit": "user", "traffic": 1, "start": "2026-11-01T00:00:00Z", "end": "2026-12-31T00:00:00Z",
		"variants": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}]}, "goal": {"effect": 0.1, "base": 0.2, "units_per_day": 100}}`,
	"post-events": `{"events": [{"timestamp": "2026-11-28T12:00:00Z", "event_id": "e", "query_id": "q", "action_name": "click",
		"event_attributes": {}}]}`,
	"judge-clicks":             `{"query_set": "s1", "judgment_list": "l1", "knowledge_bases": ["shop"]}`,
	"put-queries":              `{"queries": [{"id": "q1", "text": "refund"}]}`,
	"save-judgment-list":       `{"query_set": "s1", "max_grade": 10}`,
	"put-judgments":            `{"judgments": [{"query_id": "q1", "chunk_id": "c1", "grade": 1}]}`,
	"delete-judgments":         `{"judgments": [{"query_id": "q1", "chunk_id": "c1"}]}`,
	"delete-by-filter":         `{"filter": {"language": "en"}}`,
	"patch-document":           `{"metadata": {"language": "en"}}`,
	"write-chunks":             `[{"id": "c1", "document_id": "d", "content": "a refund"}]`,
	"replace-document":         `[{"id": "c1", "content": "a refund"}]`,
	"save-preset":              `{"definition": {"base": "rrf"}}`,
	"save-rules":               `{"rules": [{"name": "r", "when": {"match": "exact", "queries": ["x"]}, "pin": [{"chunk_id": "c1"}]}]}`,
	"save-synonyms":            `{"text": "car, auto"}`,
	"check-synonyms":           `{"text": "car, auto"}`,
	"show-synonym-effects":     `{"queries": ["car"], "text": "car, auto"}`,
	"plan-mapping":             `{"changes": {}}`,
	"meilisearch-multi-search": `{"queries": [{"indexUid": "shop", "q": "refund"}]}`,
}

// everyFew is of how many wrong values one is tried in each run; make stamina tries all.
const everyFew = 9

// TestErrorsNameWhatTheCallerWrote asks the whole gateway for everything, with wrong values in each member: the field
// that an error names is one of the request.
func TestErrorsNameWhatTheCallerWrote(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Events.Enabled = true
	r := run(t, c)
	defer r.stop()
	known := map[string]any{
		"kb": "shop", "document": "d", "id": "c1", "name": "mine", "set": "s1", "list": "l1", "query": "refund",
		"knowledge_bases": []any{"shop"}, "chunk_id": "c1", "document_id": "d", "content": "a refund", "query_set": "s1",
		"knowledge_id": "shop", "dataset_ids": []any{"shop"}, "question": "refund", "indexUid": "shop", "facetName": "language",
		"experiment": "x1",
	}
	for name, body := range sound {
		known[name] = body
	}
	seed := func() {
		status, body := r.ask(http.MethodPost, "/v1/knowledge-bases", `{"id": "shop", "dimensions": 0}`)
		if status != http.StatusCreated && status != http.StatusConflict {
			t.Fatalf("%d %s; want status StatusCreated or status StatusConflict", status, brief.Of(body))
		}
		for path, body := range map[string]string{
			cli.BasePath("shop") + "/documents?refresh=true": `{"id": "c1", "document_id": "d", "content": "a refund", "metadata": {"language": "en"}}` + "\n",
			"PUT /v1/query-sets/s1":                          `{"knowledge_bases": ["shop"]}`,
			"/v1/query-sets/s1/queries":                      `{"queries": [{"id": "q1", "text": "refund"}]}`,
			"PUT /v1/judgments/l1":                           `{"query_set": "s1", "max_grade": 10}`,
			"PUT /v1/synonyms/shop":                          `{"text": "car, auto"}`,
			"PUT /v1/presets/mine":                           sound["save-preset"],
			"/v1/experiments":                                sound["create-experiment"],
		} {
			method, path, named := strings.Cut(path, " ")
			if !named {
				method, path = http.MethodPost, method
			}
			r.ask(method, path, body) // a part may be there already
		}
	}
	seed()
	step := everyFew
	if os.Getenv(durationVariable) != "" { // make stamina
		step = 1
	}
	asked, failed := 0, 0
	for n, o := range r.api.Operations {
		if slices.Contains(untried, o.ID) {
			continue
		}
		seed()
		for i, bad := range r.api.Bad(o, known) {
			if (i+n)%step != 0 {
				continue
			}
			asked++
			if r.tried(o.Method, bad) >= http.StatusBadRequest {
				failed++
			}
		}
	}
	if asked < 20_000/step || failed < asked/4 {
		t.Errorf("%d requests, %d refused", asked, failed)
	}
	t.Logf("%d requests, %d refused", asked, failed)
	r.holdsBounds(known, seed)
}

// tried asks and gives the status; the transport looks at the error.
func (r *running) tried(method string, bad fieldcheck.Request) int {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.url+bad.Address, strings.NewReader(bad.Body))
	if err != nil {
		r.t.Fatal(err)
	}
	if bad.Type != "" {
		request.Header.Set("Content-Type", bad.Type)
	}
	answer, err := r.http.Do(request)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, bad.Address, err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode == http.StatusInternalServerError {
		r.t.Errorf("%s %.300s with %.500s: %d; want answer.StatusCode other than StatusInternalServerError", method, bad.Address, bad.Body, answer.StatusCode)
	}
	return answer.StatusCode
}

var (
	describing  sync.Mutex
	description *fieldcheck.API
)

// apiOf is what the API says of its requests, read once.
func apiOf(t testing.TB) *fieldcheck.API {
	describing.Lock()
	defer describing.Unlock()
	if description == nil {
		description = fieldcheck.Read(t, "../../gateway/testdata/openapi.json")
		for _, setting := range config.Settings() {
			description.Settings = append(description.Settings, setting.Key)
		}
	}
	return description
}
