package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestAnIndexThatOthersChanged: whoever asks is told why Elasticsearch refuses, and that it is not the
// request; doctor, diff and check name the setting, and a plan mends it.
func TestAnIndexThatOthersChanged(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Elasticsearch.URL = make([]string, 1)
	c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
	r := run(t, c)
	defer r.stop()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "engine": "elasticsearch", "dimensions": 0}, nil)
	defer r.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
	chunk := `{"id": "c1", "document_id": "d", "content": "a refund"}` + "\n"
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", chunk, nil)
	settings := c.Elasticsearch.URL[0] + "/" + c.Elasticsearch.IndexPrefix + "-kb-*/_settings"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, settings,
		strings.NewReader(`{"index.max_result_window": 5, "index.default_pipeline": "nosuch", "index.refresh_interval": "7s"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()

	const asked = "/v1/search"
	const question = `{"query": "refund", "knowledge_bases": ["shop"]}`
	status, body := r.ask(http.MethodPost, asked, question)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(body), "Result window is too large") {
		t.Errorf(`a search: %d %s; want status StatusServiceUnavailable and "Result window is too large" in it`, status, brief.Of(body))
	}
	status, body = r.ask(http.MethodPost, cli.BasePath("shop")+"/documents", chunk)
	if !strings.Contains(string(body), "pipeline with id [nosuch] does not exist") || !strings.Contains(string(body), `"unavailable"`) {
		t.Errorf("a write: %d %s; want \"pipeline with id [nosuch] does not exist\" in it and `\"unavailable\"` in it", status, brief.Of(body))
	}

	m := &byCommand{command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}}
	m.want(cli.ExitOK, "", "mappings diff shop", "in_place", "settings.index.max_result_window", "settings.index.default_pipeline")
	m.want(cli.ExitUnavailable, "", "kb check shop", "setting index.max_result_window is")
	servers := " --elasticsearch-url " + c.Elasticsearch.URL[0]
	doctor := &command{t: t, folder: t.TempDir(), environ: []string{
		"HYBRIDGE_ELASTICSEARCH_INDEX_PREFIX=" + c.Elasticsearch.IndexPrefix, "HYBRIDGE_EMBEDDING_LOCAL_ENABLED=off",
	}}
	_, out, _ := doctor.run("", strings.Fields("doctor"+servers)...)
	if !strings.Contains(out, "setting index.max_result_window is") || !strings.Contains(out, "hybridge mappings plan shop") {
		t.Errorf(`doctor says %s; want "setting index.max_result_window is" in it and "hybridge mappings plan shop" in it`, brief.Of(out))
	}
	var plan engine.MappingPlan
	m.json(&plan, "plan shop")
	if plan.Diff.Class != engine.ChangeInPlace || len(plan.Diff.Changes) != 2 {
		t.Errorf("planned %+v; want plan.Diff.Class ChangeInPlace and 2 plan.Diff.Changes", plan.Diff)
	}
	m.state("apply shop "+plan.ID, engine.MigrationDone)
	m.want(cli.ExitOK, "", "mappings diff shop", "is as its schema wants it")
	m.want(cli.ExitOK, "", "kb check shop", "finds 0 chunks damaged")
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", chunk, nil)
	var found struct{ Hits []json.RawMessage }
	r.must(http.MethodPost, asked, question, &found)
	if len(found.Hits) != 1 {
		t.Errorf("%d hits, want 1", len(found.Hits))
	}
}
