package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// embedsAgain writes chunks without their vectors, sees which documents lack them, and has them made.
func (r *running) embedsAgain() {
	r.t.Helper()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "bare"}, nil)
	defer r.must(http.MethodDelete, cli.BasePath("bare"), nil, nil)
	if status, answer := r.ask(http.MethodPost, cli.BasePath("bare")+"/documents?refresh=true&as_is=true", bilingual); status != http.StatusOK {
		r.t.Fatalf("ingest: %d %s; want status StatusOK", status, brief.Of(answer))
	}
	var list chunks.Documents
	r.must(http.MethodGet, cli.BasePath("bare")+"/documents?sort=without_vectors&order=desc&limit=2", nil, &list)
	if len(list.Documents) != 2 || list.Documents[0].ID != "shop" || list.Documents[0].WithoutVectors != 2 || list.Next == "" || *list.Total != 3 {
		r.t.Errorf("documents without vectors are %+v", list)
	}
	list = chunks.Documents{}
	r.must(http.MethodGet, cli.BasePath("bare")+"/documents?query=%E5%95%86%E5%BA%97", nil, &list)
	if len(list.Documents) != 1 || list.Documents[0].Name != "商店.md" {
		r.t.Errorf(`found by their name are %+v; want 1 list.Documents and list.Documents[0].Name "商店.md"`, list)
	}
	var job jobs.Job
	r.must(http.MethodPost, cli.BasePath("bare")+"/embed", map[string]any{}, &job)
	eventually(r.t, "the job has ended", func() bool {
		r.must(http.MethodGet, "/v1/jobs/"+job.ID, nil, &job)
		return job.State != jobs.Running
	})
	if job.State != jobs.Succeeded || job.Kind != "embed" || job.Progress.Done != 4 || job.Progress.Total != 4 {
		r.t.Errorf(`the job ended as %+v; want job.State Succeeded and job.Kind "embed" and job.Progress.Done 4 and job.Progress.Total 4`, job)
	}
	eventually(r.t, "all have vectors", func() bool { return r.described("bare").Vectors == 4 })
	eventually(r.t, "vectors find", func() bool {
		hits := r.search(search.Request{Query: "how do I get my money back", KnowledgeBases: []string{"bare"}}).Hits
		return len(hits) > 0 && hits[0].ID == "refund-zh"
	})
}

// What the gateway is set to and what was done with it can be read, by keys that may, and of their tenant.
//
// Promise: "every request that needs a key" (docs/guide/en/keys.md).
func TestSettingsAndAudit(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Audit.Path = filepath.Join(t.TempDir(), "audit.jsonl")
	c.Reranker.URL, c.Reranker.APIKey = "http://127.0.0.1:1/rerank", "whispered"
	c.Keys = []config.Key{
		{Name: "root", Key: "root", Tenant: "default"},
		{Name: "reader", Key: "reader", Tenant: "default", ReadOnly: true},
		{Name: "rival", Key: "rival", Tenant: "other"},
	}
	b := &bound{running: run(t, c)}
	b.as("root", http.MethodPost, "/v1/knowledge-bases", `{"id": "kb", "dimensions": 0}`, http.StatusCreated)
	b.as("reader", http.MethodDelete, "/v1/knowledge-bases/kb", "", http.StatusForbidden)
	b.as("wrong", http.MethodGet, "/v1/knowledge-bases/kb", "", http.StatusUnauthorized)
	b.as("rival", http.MethodGet, "/v1/knowledge-bases", "", http.StatusOK)
	b.as("root", http.MethodPost, "/v1/knowledge-bases/kb/embed", `{}`, http.StatusBadRequest)
	for _, path := range []string{"/v1/audit", "/v1/settings"} {
		b.as("reader", http.MethodGet, path, "", http.StatusForbidden)
	}
	settings := b.as("root", http.MethodGet, "/v1/settings", "", http.StatusOK)
	for _, want := range []string{`"key":"reranker.api_key","value":"[secret]"`, `"key":"keys","value":"3"`, c.DataDir} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings lack %s: %s", want, settings)
		}
	}
	if strings.Contains(settings, "whispered") {
		t.Errorf(`a secret is told: %s; want no "whispered" in it`, settings)
	}
	count := func(key, query string, want int) {
		t.Helper()
		answer := b.as(key, http.MethodGet, "/v1/audit"+query, "", http.StatusOK)
		if got := strings.Count(answer, `"request_id"`); got != want {
			t.Errorf("%s asks %s and gets %d records, want %d: %s", key, query, got, want, brief.Of(answer))
		}
	}
	count("rival", "", 1)
	count("root", "?outcome=refused", 4) // two of reader, one of nobody, and the settings
	count("root", "?key=reader&knowledge_base=kb", 1)
	count("root", "?action=post+/v1/knowledge-bases&limit=1", 1)
	plain := run(t, settingsIn(t.TempDir()))
	if status, answer := plain.ask(http.MethodGet, "/v1/audit", ""); status != http.StatusBadRequest || !strings.Contains(string(answer), "audit.path") {
		t.Errorf("without a log: %d %s", status, brief.Of(answer))
	}
}
