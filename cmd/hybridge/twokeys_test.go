package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// ofTwo is a question by every protocol that reads: what is kept of it for one key is not for the other.
var ofTwo = []struct {
	path, body string
	names      bool // it tells something of a chunk of whoever asks, for root of both
}{
	{"/v1/search", `{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100, "neighbours": 2, "facets": ["owner"]}`, true},
	{"/v1/search", `{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100, "facets": ["owner"], "facet_mode": "disjunctive", "filter": {"not": {"owner": "nobody"}}}`, true},
	{"/v1/search", `{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100, "copies": "fold", "group_by": "document_id"}`, true},
	{"/v1/search/batch", `{"searches": [{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100}]}`, true},
	{"/v1/compare", `{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100, "columns": [{}, {"preset": "text"}]}`, true},
	{"/v1/context", `{"query": "refund order", "knowledge_bases": ["kb"], "top_k": 100, "max_chars": 100000}`, true},
	{"/v1/suggest", `{"query": "order", "knowledge_bases": ["kb"]}`, false},
	{"/v1/suggest", `{"query": "ber", "knowledge_bases": ["kb"]}`, false},
	{"/v1/analyze", `{"query": "refund order", "knowledge_bases": ["kb"]}`, false},
	{"/v1/explain", `{"query": "refund order", "knowledge_bases": ["kb"], "chunk_id": "b1"}`, false},
	{"/dify/retrieval", `{"knowledge_id": "kb", "query": "refund order", "retrieval_setting": {"top_k": 100, "score_threshold": 0}}`, true},
	{"/api/v1/retrieval", `{"dataset_ids": ["kb"], "question": "refund order", "similarity_threshold": 0, "page_size": 100}`, true},
	{"/multi-search", `{"queries": [{"indexUid": "kb", "q": "refund order", "limit": 100, "facets": ["owner"]}]}`, true},
	{"/indexes/kb/search", `{"q": "refund order", "limit": 100}`, true},
	{"/indexes/kb/facet-search", `{"facetName": "owner", "q": "refund order"}`, true},
	{"/v1/vector_stores/kb/search", `{"query": "refund order", "max_num_results": 50}`, true},
	{"/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "refund order", "top_k": 50, "min_relevance": 0}}}`, true},
}

// TestKeysOfOneQuestion: two keys that are bound to other chunks, and one that sees all, ask the same one after the
// other and again: none is answered what is kept, shared or counted for another.
func TestKeysOfOneQuestion(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	b := sharedBase(t, c, config.Key{Name: "bert", Key: "bert", Tenant: "default", Filter: map[string]any{"owner": secret}})
	for _, q := range ofTwo {
		before := map[string]int{} // how often the question stands in the answer
		for range 2 {
			for _, key := range []string{"root", "anna", "bert"} {
				status, text := b.send(key, http.MethodPost, q.path, cli.AsJSON, q.body)
				if status != http.StatusOK && q.path != "/v1/explain" {
					t.Fatalf(`%s asks %s %s: %d %.300s; want status StatusOK or q.path "/v1/explain"`, key, q.path, brief.Of(q.body), status, text)
				}
				anna, bert := strings.Contains(text, "anna"), strings.Contains(text, secret)
				if key == "anna" && bert || key == "bert" && anna {
					t.Errorf(`%s is answered by %s of another's: %.500s; want key other than "anna" or not bert and key other than "bert" or not anna`, key, q.path, text)
				}
				if q.names && (anna != (key != "bert") && strings.Contains(q.body, "owner") || bert != (key != "anna")) {
					t.Errorf("%s is not answered by %s what is hers: %.500s", key, q.path, text)
				}
				n := strings.Count(text, "refund")
				if was, again := before[key]; again && n != was {
					t.Errorf("%s is answered by %s something else the second time: %.500s", key, q.path, text)
				}
				before[key] = n
			}
		}
	}
}
