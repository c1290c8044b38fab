package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestDifyRetrieval(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme"), key("k2", "acme", "other")}}})
	const path = "/dify/retrieval"
	f := func(body, auth string, status int, contains string) {
		t.Helper()
		got := g.ask("POST", path, body, asJSON, "Authorization: "+auth)
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%.80s: %d %s, want %d with %s", body, got.status, brief.Of(got.body), status, contains)
		}
		if got.header.Get("Content-Type") != "application/json" {
			t.Errorf(`%.80s: Content-Type %q; want got.header.Get("Content-Type") "application/json"`, body, got.header.Get("Content-Type"))
		}
		var told struct {
			Code    int    `json:"error_code"`
			Message string `json:"error_msg"`
		}
		if err := json.Unmarshal([]byte(got.body), &told); status != 200 && (err != nil || told.Code == 0 || told.Message == "") {
			t.Errorf("%.80s: %s is no error of Dify: %v", body, brief.Of(got.body), err)
		}
	}
	const good = "Bearer k1"
	f(`{"knowledge_id": "manuals", "query": "refund", "retrieval_setting": {"top_k": 2, "score_threshold": 0.0},
		"metadata_condition": null, "of_a_later_dify": 1}`, good, 200, `"document_id":"d`)
	if r := g.searched; *r.TopK != 2 || !r.Plain || r.Threshold.Relevance != nil || len(r.KnowledgeBases) != 1 {
		t.Errorf("asked %+v; want *r.TopK 2 and r.Plain and no r.Threshold.Relevance and 1 r.KnowledgeBases", r)
	}
	f(`{"knowledge_id": "manuals, manuals", "query": "refund", "retrieval_setting": {"score_threshold": 1},
		"metadata_condition": {"logical_operator": "and", "conditions": [
			{"name": ["mood"], "comparison_operator": "is", "value": "m"}]}}`, good, 200, `"score":1,`)
	if r := g.searched; *r.Threshold.Relevance != 1 || len(r.KnowledgeBases) != 2 || string(r.Filter["mood"]) != `["m"]` {
		t.Errorf("asked %+v; want *r.Threshold.Relevance 1 and 2 r.KnowledgeBases and string(r.Filter[\"mood\"]) `[\"m\"]`", r)
	}
	// Where relevance is unknown, what a record says is the score, and the threshold is of what is said.
	g.canned = cannedResponse(2)
	g.canned.Hits[0].Score, g.canned.Hits[1].Score = 0.75, 0.5
	for threshold, want := range map[string]int{"0.5": 2, "0.5000001": 1, "0.75": 1, "0.7500001": 0} {
		got := g.ask("POST", path, `{"knowledge_id": "manuals", "query": "refund", "retrieval_setting": {"score_threshold": `+threshold+`}}`,
			asJSON, "Authorization: "+good)
		if n := strings.Count(got.body, `"score":`); got.status != 200 || n != want {
			t.Errorf("records of %s and more: %d, want %d: %s", threshold, n, want, brief.Of(got.body))
		}
	}
	g.canned = nil
	question := `{"knowledge_id": "manuals", "query": "refund"}`
	f(question, "", 403, `{"error_code":1001,`)
	f(question, "k1", 403, `{"error_code":1001,`)
	f(question, "Bearer wrong", 403, `{"error_code":1002,`)
	f(question, "Bearer k2", 404, `{"error_code":2001,`)
	f(`{"knowledge_id": "nothing", "query": "refund"}`, good, 404, `{"error_code":2001,"error_msg":"knowledge base \"nothing\" does not exist"}`)
	f(`{"knowledge_id": " ,", "query": "refund"}`, good, 400, `"error_msg":"knowledge_id is`)
	f(`{"query": 5}`, good, 400, `{"error_code":400,"error_msg":"query is a number; it must be a string"}`)
	f(`{"knowledge_id": "manuals", "query": "a", "retrieval_setting": {"score_threshold": 2}}`, good, 400, `it must be 0 to 1`)
	f(`{"knowledge_id": "manuals", "query": "a", "metadata_condition": {"conditions": [{"name": 5}]}}`, good, 400, `metadata_condition.conditions[0].name`)
	f(`{"knowledge_id": "manuals", "query": "`+strings.Repeat("a", 1<<20)+`"}`, good, 413, `{"error_code":413,`)
	chinese := g.ask("POST", path, `{"query": 5}`, asJSON, "Authorization: "+good, "Accept-Language: zh")
	if !strings.ContainsFunc(chinese.body, isHan) {
		t.Errorf("to a Chinese reader %s", brief.Of(chinese.body))
	}
}
