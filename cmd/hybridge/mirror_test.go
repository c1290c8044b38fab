package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestOneKnowledgeBaseOnTwoEngines: one write, and both real engines answer
// alike; what is deleted behind the gateway's back is found and repaired.
func TestOneKnowledgeBaseOnTwoEngines(t *testing.T) {
	address := devservices.Elasticsearch(t)
	c := withModel(settingsIn(t.TempDir()), devservices.Embedding(t))
	c.Elasticsearch.URL = []string{address}
	c.Elasticsearch.IndexPrefix = fmt.Sprintf("mirror%d", time.Now().UnixNano())
	r := run(t, c)
	defer r.stop()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{
		"id": "shop", "engines": []string{"embedded", "elasticsearch"},
	}, nil)
	defer r.must(http.MethodDelete, basePath("shop"), nil, nil)
	status, answer := r.ask(http.MethodPost, basePath("shop")+"/documents?refresh=true", bilingual)
	if status != http.StatusOK || strings.Count(string(answer), `"engine":"elasticsearch","status":"created"`) != 4 {
		t.Fatalf("ingest: %d %s", status, answer)
	}
	first := map[string]search.Hit{}
	for _, name := range []string{"", "embedded", "elasticsearch"} {
		response := r.search(search.Request{Query: "如何申请退款", KnowledgeBases: []string{"shop"}, Engine: name})
		if len(response.Hits) == 0 || response.Hits[0].ID != "refund-zh" || name != "" && response.Engine != name {
			t.Fatalf("engine %q: %+v", name, response)
		}
		first[name] = response.Hits[0]
	}
	if d := first["embedded"].Score - first["elasticsearch"].Score; d > 1e-4 || d < -1e-4 {
		t.Errorf("scores %v and %v", first["embedded"].Score, first["elasticsearch"].Score)
	}

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		fmt.Sprintf("%s/%s-kb-*/_delete_by_query?refresh=true", address, c.Elasticsearch.IndexPrefix),
		strings.NewReader(`{"query": {"term": {"id": "coffee-en"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	deleted, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = deleted.Body.Close()
	for i, missing := range []int{1, 1, 0} { // seen, repaired, gone
		var report engine.DriftReport
		r.must(http.MethodPost, basePath("shop")+"/check", map[string]any{"repair": i == 1}, &report)
		if report.Chunks != 4 || len(report.Engines) != 1 || report.Engines[0].Missing.Count != missing {
			t.Errorf("check %d: %+v", i, report)
		}
	}
}
