package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestSynonymsOfWhatACallerSees(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("full", "acme"), key("bound", "acme", base)}}})
	f := func(key, method, path, body string, status int, part string) {
		t.Helper()
		got := g.ask(method, "/v1/synonyms"+path, body, "X-API-Key: "+key, asJSON)
		if got.status != status || !strings.Contains(got.body, part) {
			t.Errorf("%s %s %s: %d %s, want %d with %s", key, method, path, got.status, brief.Of(got.body), status, part)
		}
	}
	f("full", "GET", "", "", 200, `"set":"global"`)
	if body := g.ask("GET", "/v1/synonyms", "", "X-API-Key: bound").body; strings.Contains(body, "global") ||
		strings.Contains(body, "deleted") || !strings.Contains(body, `"set":"manuals"`) {
		t.Errorf("a bound key lists %s; want no \"global\" in it and no \"deleted\" in it and `\"set\":\"manuals\"` in it", brief.Of(body))
	}
	f("full", "GET", "/manuals?version=1", "", 200, `"version":1`)
	f("full", "GET", "/deleted", "", 404, "does not exist")
	f("full", "GET", "/manuals?version=-1", "", 400, "version")
	f("full", "PUT", "/global", `{"text": "a, b"}`, 200, `"author":"full"`)
	f("bound", "PUT", "/global", `{"text": "a, b"}`, 404, "does not exist")
	f("bound", "PUT", "/manuals", `{"text": "a, b", "comment": "`+strings.Repeat("x", 1001)+`"}`, 400, "comment")
	f("bound", "POST", "/manuals/rollback", `{"version": 0}`, 400, "version")
	f("bound", "POST", "/manuals/rollback", `{"version": 1}`, 200, `"version":3`)
	f("bound", "GET", "/manuals/versions?limit=1", "", 200, `"versions"`)
	f("bound", "POST", "/manuals/try", `{"query": ""}`, 400, "query")
	f("bound", "POST", "/manuals/try", `{"query": "x"}`, 200, `"current"`)
	f("bound", "POST", "/manuals/try", `{"query": "x", "text": "a, b"}`, 200, `"rule":"draft"`)
	f("bound", "POST", "/manuals/check", `{"text": "a, b\nc"}`, 200, `"line":2`)
	f("bound", "POST", "/global/check", `{"text": "a, b"}`, 404, "does not exist")
	f("bound", "POST", "/manuals/check", `{"text": "`+strings.Repeat("x", 4<<20+1)+`"}`, 400, "4194305 bytes")
	f("bound", "POST", "/manuals/effects", `{"queries": ["x"], "text": "a, b"}`, 200, `"id":"after"`)
	f("bound", "POST", "/manuals/effects", `{"queries": [], "text": "a, b"}`, 400, "a list of 0")
	f("bound", "POST", "/global/effects", `{"queries": ["x"], "text": "a, b"}`, 404, "does not exist")
}
