package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestRulesOfWhatACallerSees(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("full", "acme"), key("bound", "acme", base)}}})
	f := func(key, method, path, body string, status int, part string) {
		t.Helper()
		got := g.ask(method, "/v1/rules"+path, body, "X-API-Key: "+key, asJSON)
		if got.status != status || !strings.Contains(got.body, part) {
			t.Errorf("%s %s %s: %d %s, want %d with %s", key, method, path, got.status, brief.Of(got.body), status, part)
		}
	}
	const rule = `{"name": "r", "when": {"match": "exact", "queries": ["q"]}, "pin": [{"chunk_id": "c1"}]}`
	f("bound", "GET", "", "", 200, `"sets":[{"knowledge_base":"manuals"`)
	for _, key := range []string{"full", "bound"} {
		if body := g.ask("GET", "/v1/rules", "", "X-API-Key: "+key).body; strings.Contains(body, "deleted") ||
			strings.Contains(body, "global") {
			t.Errorf(`%s lists %s; want no "deleted" in it and no "global" in it`, key, brief.Of(body))
		}
	}
	f("full", "GET", "/manuals?version=1", "", 200, `"version":1`)
	f("full", "GET", "/deleted", "", 404, "does not exist")
	f("full", "GET", "/global", "", 404, "does not exist")
	f("full", "PUT", "/manuals", `{"rules": [`+rule+`], "base_version": 1}`, 200, `"author":"full"`)
	f("full", "PUT", "/manuals", `{"rules": [`+rule+`]}`, 200, `"pin":[{"chunk_id":"c1"}]`)
	f("full", "PUT", "/manuals", `{"rules": [{"nam": "r"}]}`, 400, "nam")
	f("full", "PUT", "/manuals", `{}`, 400, "a list of rules")
	f("full", "PUT", "/manuals", `{"rules": []}`, 200, `"version":2`)
	f("bound", "PUT", "/other", `{"rules": []}`, 404, "does not exist")
	f("bound", "PUT", "/manuals", `{"rules": [], "comment": "`+strings.Repeat("x", 1001)+`"}`, 400, "comment")
	f("bound", "POST", "/manuals/rollback", `{"version": 0}`, 400, "version")
	f("bound", "POST", "/manuals/rollback", `{"version": 1}`, 200, `"version":3`)
	f("bound", "GET", "/manuals/versions?limit=1", "", 200, `"versions"`)
}
