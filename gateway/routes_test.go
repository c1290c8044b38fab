package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestEveryResource(t *testing.T) {
	g := start(t, Options{Version: "1.2.3"})
	f := func(method, path, body, contentType string, status int, contains string) {
		t.Helper()
		got := g.ask(method, path, body, "Content-Type: "+contentType)
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%s %s: %d %s; want %d with %s", method, path, got.status, brief.Of(got.body), status, contains)
		}
	}
	const js, nd = "application/json", "application/x-ndjson"
	f("GET", "/", "", "", 200, `"POST /v1/search"`)
	f("GET", "/healthz", "", "", 200, `{"status":"ok","version":"1.2.3"}`)
	f("GET", "/readyz", "", "", 200, `{"status":"ready","back_ends":{}}`)
	f("GET", "/openapi.json", "", "", 200, `"openapi":"3.1.0"`)
	f("POST", "/v1/search", question, js, 200, `"highlights":["如何申请<em>退款</em>"`)
	f("POST", "/v1/search", question, js+"; charset=UTF-8", 200, `"total":{"value":42,"relation":"eq"}`)
	f("POST", "/v1/explain", `{"query": "a", "knowledge_bases": [], "chunk_id": "c9"}`, js, 200, `"chunk_id":"c9"`)
	f("POST", "/v1/analyze", question, js, 200, `"tokens"`)
	f("POST", "/v1/compare", `{"query": "a", "knowledge_bases": ["manuals"], "columns": [{"preset": "rrf"}, {}]}`, js,
		200, `"overlap":[[1,1],[1,1]]`)
	f("POST", "/v1/compare", `{"query": "a", "knowledge_bases": ["manuals"], "columns": [{}]}`, js, 400, `"field":"columns"`)
	f("POST", "/v1/compare", `{"query": "a", "knowledge_bases": ["nothing"], "columns": [{}, {}]}`, js, 404, `"not_found"`)
	f("POST", "/v1/context", question, js, 200, `"context":"[1] `)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "min_relevance": 0.5}`, js,
		200, `"answerable":null`)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "format": "tool", "max_chunks": 1}`, js,
		200, `"context":"Results: 1 of 3.\n\n[1] `)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "max_chars": 0}`, js, 400, `"field":"max_chars"`)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "max_chunks": -1}`, js, 400, `"field":"max_chunks"`)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "format": "xml"}`, js, 400, `"field":"format"`)
	f("POST", "/v1/context", `{"query": "a", "knowledge_bases": ["manuals"], "min_relevance": 1.5}`, js,
		400, `"field":"min_relevance"`)
	f("POST", "/v1/suggest", `{"query": "ref", "knowledge_bases": ["manuals"]}`, js, 200,
		`{"suggestions":[{"text":"refund","kind":"term","knowledge_base":"manuals","count":3}],"degraded":[]}`)
	f("POST", "/v1/suggest", `{"query": "ref", "knowledge_bases": ["nothing"]}`, js, 404, `"not_found"`)
	f("POST", "/v1/suggest", `{"query": "ref", "knowledge_base": ["manuals"]}`, js, 400, `"field":"knowledge_base"`)
	f("GET", "/v1/presets", "", "", 200, `{"presets":["balanced","rrf"],"default":"balanced","details":[{"name":"balanced","source":"builtin"}]}`)
	f("POST", "/v1/knowledge-bases", `{"id": "new", "name": "New", "dimensions": 0}`, js, 201, `"id":"new"`)
	f("GET", "/v1/knowledge-bases", "", "", 200, `{"knowledge_bases":[{"tenant":"default","id":"manuals"`)
	f("GET", "/v1/knowledge-bases", "", "", 200,
		`"engines":[{"name":"embedded","default":true},{"name":"elasticsearch","default":false}]}`)
	f("GET", "/v1/knowledge-bases/manuals", "", "", 200, `"chunks":0`)
	f("DELETE", "/v1/knowledge-bases/manuals", "", "", 204, "")
	f("POST", "/v1/knowledge-bases/manuals/documents?refresh=true", `{"id": "a"}`, nd, 200, `{"id":"a","line":1,"status":"created"}`)
	f("GET", "/v1/knowledge-bases/manuals/documents?after=x&limit=2", "", "", 200, `"next":"xb"`)
	f("GET", "/v1/knowledge-bases/manuals/documents", "", "", 200, `{"documents":[{"document_id":"a","chunks":1},`)
	f("GET", "/v1/knowledge-bases/manuals/documents/d1", "", "", 200, `{"document_id":"d1","chunks":[{"id":"c1"`)
	f("PUT", "/v1/knowledge-bases/manuals/documents/d1", `{"id": "a"}`, nd, 200, `{"id":"c1","line":1,"status":"updated"}`)
	f("DELETE", "/v1/knowledge-bases/manuals/documents/d1", "", "", 200, `{"deleted":2}`)
	f("GET", "/v1/knowledge-bases/manuals/chunks/c1", "", "", 200, `"id":"c1"`)
	f("DELETE", "/v1/knowledge-bases/manuals/chunks/c1", "", "", 200, `{"deleted":1}`)
	f("DELETE", "/v1/knowledge-bases/manuals/chunks/gone", "", "", 404, `"field":"id"`)
	f("GET", "/v1/knowledge-bases/nothing", "", "", 404, `"code":"not_found"`)
	f("GET", "/metrics", "", "", 200, `hybridge_http_requests_total{method="POST",route="/v1/search",status="200"} 2`)
	f("GET", "/metrics", "", "", 200, `hybridge_search_degraded_legs_total{leg="vector"} 7`)
	f("GET", "/metrics", "", "", 200, `hybridge_ingested_chunks_total{status="created"} 1`)
}

// Ids may hold whatever a path can carry when it is percent-encoded.
func TestIDsOfAnyCharacter(t *testing.T) {
	g := start(t, Options{})
	for _, id := range []string{"a/b/c", "../etc/passwd", "退款 问题", "100%", "a%2Fb", "q?x=1#y", "a:b*c+d", "ﬁ-🙂", ".", "-"} {
		got := g.ask("GET", "/v1/knowledge-bases/manuals/chunks/"+encodeID(id), "")
		var chunk struct{ ID string }
		if err := json.Unmarshal([]byte(got.body), &chunk); err != nil || chunk.ID != id {
			t.Errorf("id %q came back as %q (%d %s)", id, chunk.ID, got.status, brief.Of(got.body))
		}
	}
}

// encodeID also encodes dots, which a client would take for folders.
func encodeID(id string) string {
	return strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
}

func TestHeadAndSecurityHeaders(t *testing.T) {
	g := start(t, Options{})
	got := g.ask(http.MethodHead, "/healthz", "")
	if got.status != 200 || got.body != "" {
		t.Errorf(`HEAD /healthz: %d %q; want got.status 200 and got.body ""`, got.status, brief.Of(got.body))
	}
	for _, path := range []string{"/healthz", "/nowhere"} {
		header := g.ask("GET", path, "").header
		for name, want := range map[string]string{
			"X-Content-Type-Options":      "nosniff",
			"Cache-Control":               "no-store",
			"Referrer-Policy":             "no-referrer",
			"Access-Control-Allow-Origin": "",
			"Server":                      "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("GET %s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}
