package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestAnswersAreKeptUntilTheDataChanges asks the whole program, on every engine.
func TestAnswersAreKeptUntilTheDataChanges(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) { keepsAnswers(t, settingsIn(t.TempDir())) })
	t.Run("elasticsearch", func(t *testing.T) {
		c := settingsIn(t.TempDir())
		c.Elasticsearch.URL = []string{devservices.Elasticsearch(t)}
		c.Elasticsearch.IndexPrefix = "kept-test"
		c.DefaultEngine = "elasticsearch"
		c.Redis.URL = devservices.Redis(t)
		keepsAnswers(t, c)
	})
	t.Run("postgres", func(t *testing.T) {
		c := settingsIn(t.TempDir())
		c.Postgres.URL, c.Postgres.Schema = devservices.Postgres(t), "kept_test"
		c.DefaultEngine = "postgres"
		c.Redis.URL = devservices.Redis(t)
		keepsAnswers(t, c)
	})
}

func keepsAnswers(t *testing.T, c *config.Config) {
	t.Helper()
	r := run(t, c)
	const kb = "kept-answers"
	_, _ = r.ask(http.MethodDelete, cli.BasePath(kb), "") // of a run that was ended
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
	defer func() { r.must(http.MethodDelete, cli.BasePath(kb), nil, nil) }()
	write := func(line string) { r.must(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", line, nil) }
	ask := func(hits string) bool {
		t.Helper()
		got := r.search(search.Request{Query: "refund", KnowledgeBases: []string{kb}, Preset: "text"})
		var ids []string
		for _, hit := range got.Hits {
			ids = append(ids, hit.ID)
		}
		if found := strings.Join(ids, " "); found != hits {
			t.Errorf("hits %q; want %q", found, hits)
		}
		return got.Cached
	}
	asked := func(hits string) {
		t.Helper()
		if ask(hits) {
			t.Errorf("%q is an answer of before the data changed", hits)
		}
		// What another gateway would tell of the change may arrive after the first answer.
		eventually(t, hits+" comes from memory", func() bool { return ask(hits) })
	}
	write(`{"id": "a", "document_id": "d", "content": "a refund of the whole sum"}`)
	asked("a")
	write(`{"id": "b", "document_id": "e", "content": "refund"}`)
	asked("b a")
	r.must(http.MethodDelete, cli.BasePath(kb)+"/documents/d", nil, nil)
	if ask("b") {
		t.Error("an answer has what is deleted")
	}
	if _, metrics := r.ask(http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics),
		`hybridge_result_cache_requests_total{from="memory"} 2`) {
		t.Error("the metrics do not tell of two answers from memory")
	}
}
