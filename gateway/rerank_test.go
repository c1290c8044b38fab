package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/cohere"
)

func TestRerank(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}})
	f := func(path, body string, status int, contains string) {
		t.Helper()
		got := g.ask("POST", path, body, asJSON, "Authorization: Bearer k1")
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%.80s: %d %.200s, want %d with %s", body, got.status, got.body, status, contains)
		}
		var told cohere.RerankError
		if status != 200 && (json.Unmarshal([]byte(got.body), &told) != nil || told.Message == "") {
			t.Errorf(`%.80s: %.200s has no message; want status 200 or no json.Unmarshal([]byte(got.body), &told) and told.Message other than ""`, body, got.body)
		}
	}
	f("/v1/rerank", `{"query": "q", "documents": ["a", "b"]}`, 200,
		`"results":[{"index":1,"relevance_score":1},{"index":0,"relevance_score":0.5}],"meta":{"api_version":{"version":"1"}`)
	f("/v2/rerank", `{"query": "q", "documents": ["a", {"text": "b", "other": 1}], "top_n": 1, "return_documents": true, "unknown": 1}`, 200,
		`"results":[{"index":1,"relevance_score":1,"document":{"text":"b"}}],"meta":{"api_version":{"version":"2"}`)
	f("/v1/rerank", `{"query": "q", "documents": ["a"]}`, 200, `"warnings":["vector: embedding service unavailable"]`)
	for _, wrong := range []string{
		`{"query": "q", "documents": [5]}`, `{"query": "q", "documents": [{"title": "a"}]}`, `{"query": "q", "documents": [null]}`,
		`{"query": "q", "documents": "a"}`, `{"query": 5, "documents": ["a"]}`,
	} {
		f("/v1/rerank", wrong, 400, "")
	}
	f("/v1/rerank", `{"query": "q", "documents": ["a"], "top_n": 0}`, 400, "top_n")
	f("/v1/rerank", `{"query": "q", "documents": ["a"], "top_n": 10001}`, 400, "top_n")
	g.answer = func(context.Context) error { return fault.Invalid("model", "nothing", "fusion") }
	f("/v1/rerank", `{"query": "q", "documents": ["a"], "model": "nothing"}`, 400, "nothing")
}
