package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestSeveralModels: one gateway serves knowledge bases of the real model and of another one with
// two numbers, makes their vectors, and changes one to the other.
func TestSeveralModels(t *testing.T) {
	two := httptest.NewServer(http.HandlerFunc(twoNumbers))
	defer two.Close()
	c := withModel(settingsIn(t.TempDir()), devservices.Embedding(t))
	c.Embeddings = map[string]config.EmbeddingService{"two": {URL: two.URL, DisableKeepAlives: true}}
	r := run(t, c)
	defer r.stop()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "usual"}, nil)
	var made engine.KnowledgeBase
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "second", "embedding_model": "two"}, &made)
	if made.Dimensions != 2 || made.EmbeddingModel != "two" {
		t.Errorf(`made %+v; want made.Dimensions 2 and made.EmbeddingModel "two"`, made)
	}
	code, answer := r.ask(http.MethodPost, "/v1/knowledge-bases", `{"id": "third", "embedding_model": "three"}`)
	if code != http.StatusBadRequest || !strings.Contains(string(answer), "model three, which is not configured") {
		t.Errorf(`an unknown model: %d %s; want code StatusBadRequest and "model three, which is not configured" in it`, code, brief.Of(answer))
	}
	for _, kb := range []string{"usual", "second"} {
		chunk := `{"id": "` + kb + `", "document_id": "d", "content": "Money is paid back within three days."}`
		r.must(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", chunk, nil)
	}
	both := func(question, found, degraded string) {
		t.Helper()
		var answer search.Response
		r.must(http.MethodPost, "/v1/search", map[string]any{
			"query": question, "knowledge_bases": []string{"usual", "second"}, "copies": "keep", "cache": false,
		}, &answer)
		var hits, missing []string
		for i := range answer.Hits {
			if answer.Hits[i].VectorSimilarity != nil {
				hits = append(hits, answer.Hits[i].ID)
			}
		}
		for _, d := range answer.Degraded {
			if d.Leg == "vector" {
				missing = append(missing, d.KnowledgeBase)
			}
		}
		if len(hits) != len(strings.Fields(found)) || strings.Join(missing, " ") != degraded {
			t.Errorf("found %v, want %s; degraded %+v", hits, found, answer.Degraded)
		}
	}
	both("退款什么时候到账", "usual second", "")
	if _, answer = r.ask(http.MethodGet, "/readyz", ""); !strings.Contains(string(answer), "embedding two") {
		t.Errorf(`ready: %s; want "embedding two" in it`, brief.Of(answer))
	}
	m := &byCommand{command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}}
	m.want(cli.ExitUsage, "", "mappings plan usual --embedding-model-name three", "a configured model: multilingual-e5-small, two")
	m.state("apply usual --embedding-model-name two", engine.MigrationSwitched)
	both("退款什么时候到账", "usual second", "")
	m.state("rollback usual", engine.MigrationRolledBack)
	m.want(cli.ExitOK, "", "kb create fourth --embedding-model-name two", "fourth")
	two.Close()
	both("When is money paid back?", "usual", "second")
}
