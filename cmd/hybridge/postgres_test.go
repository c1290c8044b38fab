package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// withPostgres configures a schema that no other test has, and Redis.
func withPostgres(t *testing.T, c *config.Config) *config.Config {
	t.Helper()
	c.Postgres.URL, c.Redis.URL = devservices.Postgres(t), devservices.Redis(t)
	c.Postgres.Schema = fmt.Sprintf("program_%d", time.Now().UnixNano())
	c.Postgres.KeywordWait, c.Postgres.Timeout = 10*time.Second, 2*time.Minute // other tests keep the machine busy
	return c
}

func TestWholeProgramPostgres(t *testing.T) {
	t.Parallel()
	wholeProgram(t, withPostgres(t, withModel(settingsIn(t.TempDir()), devservices.Embedding(t))))
}

// TestKeywordIndexesAreToldAndInvalidated looks at what the API, the metrics and
// the command line say of a knowledge base on PostgreSQL.
func TestKeywordIndexesAreToldAndInvalidated(t *testing.T) {
	t.Parallel()
	c := withPostgres(t, settingsIn(t.TempDir()))
	r := run(t, c)
	defer r.stop()
	for id, engine := range map[string]string{"there": "postgres", "here": "embedded"} {
		spec := map[string]any{"id": id, "engine": engine, "dimensions": 0, "bm25": "okapi"}
		r.must(http.MethodPost, "/v1/knowledge-bases", spec, nil)
		r.must(http.MethodPost, cli.BasePath(id)+"/documents", `{"id": "a", "document_id": "d", "content": "one refund"}`, nil)
	}
	hits := func() int {
		return len(r.search(search.Request{Query: "refund", KnowledgeBases: []string{"there"}, Preset: "text"}).Hits)
	}
	if n := hits(); n != 1 {
		t.Fatalf("%d hits; want n 1", n)
	}
	var described catalog.Described
	r.must(http.MethodGet, cli.BasePath("there"), nil, &described)
	keywords, _ := described.Details["keyword_index"].(map[string]any)
	text, _ := keywords["text"].(map[string]any)
	if text["loaded"] != true || text["builds"] != 1.0 || described.BM25 != "okapi" {
		t.Errorf(`described as %+v; want text["loaded"] true and text["builds"] 1.0 and described.BM25 "okapi"`, described)
	}
	line := command{t: t, folder: t.TempDir()}
	line.want(0, "", "kb invalidate there --server "+r.url, "the next search of there builds")
	line.want(2, "", "kb invalidate here --server "+r.url, "no stored keyword indexes")
	if n := hits(); n != 1 {
		t.Errorf("%d hits after invalidating; want n 1", n)
	}
	if status, answer := r.ask(http.MethodPost, cli.BasePath("here")+"/invalidate", ""); status != http.StatusBadRequest {
		t.Errorf("invalidating the embedded engine: %d %s; want status StatusBadRequest", status, brief.Of(answer))
	}
	if _, metrics := r.ask(http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics), "hybridge_bm25_lookups_total") {
		t.Error("the metrics tell nothing of keyword indexes")
	}
	if _, ready := r.ask(http.MethodGet, "/readyz", ""); !strings.Contains(string(ready), "postgres") {
		t.Errorf(`readiness: %s; want "postgres" in it`, brief.Of(ready))
	}
}

// TestVectorsAnswerWhileTheKeywordIndexIsHeldUp: another session holds the table of stored
// keyword indexes. Whatever has vectors is answered by them in time, and says so, also in
// the log; words alone are refused; afterwards words are found again, by one build.
func TestVectorsAnswerWhileTheKeywordIndexIsHeldUp(t *testing.T) {
	t.Parallel()
	c, d := settingsIn(t.TempDir()), devservices.NewDatabase(t)
	c.Postgres.URL = d.URL
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": "postgres", "dimensions": 2}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents", someChunks(0, 40), nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/invalidate", nil, nil)
	body := func(preset string) string {
		return fmt.Sprintf(`{"query": "refund", "knowledge_bases": ["k"], "vector": [1, 1], "preset": %q}`, preset)
	}
	release := d.HoldAll("hybridge.bm25_indexes")
	for _, preset := range []string{"balanced", "script_score", "technical", "rrf", "linear"} {
		begun := time.Now()
		var found search.Response
		r.must(http.MethodPost, "/v1/search", body(preset), &found)
		took := time.Since(begun)
		if took > 3*time.Second {
			t.Errorf("%s took %v; want took at most 3 * time.Second", preset, took)
		}
		t.Logf("%s took %v", preset, took)
		if n := len(found.Degraded); n != 1 || len(found.Hits) == 0 {
			t.Errorf("%s: %d hits, degraded %+v; want n 1 and some found.Hits", preset, len(found.Hits), found.Degraded)
		} else if g := found.Degraded[0]; g.Leg != "text" || g.KnowledgeBase != "k" || g.Code != fault.Unavailable ||
			!strings.Contains(g.Reason, "still being made ready") {
			t.Errorf(`%s is degraded as %+v; want g.Leg "text" and g.KnowledgeBase "k" and g.Code Unavailable and "still being made ready" in it`, preset, g)
		}
	}
	status, answer := r.ask(http.MethodPost, "/v1/search", body("text"))
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "still being made ready") {
		t.Errorf(`words alone: %d %s; want status StatusServiceUnavailable and "still being made ready" in it`, status, brief.Of(answer))
	}
	if log := r.log.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "leg=text knowledge_base=k code=unavailable") {
		t.Errorf("the log does not warn:\n%s", brief.Of(log))
	}
	release()
	eventually(t, "words are found again", func() bool {
		var found search.Response
		r.must(http.MethodPost, "/v1/search", body("balanced"), &found)
		return len(found.Degraded) == 0 && len(found.Hits) > 0 && found.Hits[0].Legs[0].Raw != nil
	})
	if _, metrics := r.ask(http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics), `lookups_total{tier="build"} 1`+"\n") {
		t.Error("the keyword index was not built once")
	}
}

// TestExplainSaysHowItWasSearched: by the vector index, or exactly where the filter
// leaves few chunks.
func TestExplainSaysHowItWasSearched(t *testing.T) {
	t.Parallel()
	c := withPostgres(t, settingsIn(t.TempDir()))
	c.Postgres.ExactLimit = 20
	r := run(t, c)
	defer r.stop()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": "postgres", "dimensions": 2}, nil)
	defer r.must(http.MethodDelete, cli.BasePath("k"), nil, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents", someChunks(0, 100), nil)
	eventually(t, "the vector index is built", func() bool {
		_, described := r.ask(http.MethodGet, cli.BasePath("k"), "")
		return strings.Contains(string(described), `"vector":"hnsw"`)
	})
	f := func(preset, filter, want string) {
		t.Helper()
		body := fmt.Sprintf(`{"query": "refund", "knowledge_bases": ["k"], "vector": [1, 0], "candidates": 1, "top_k": 1,
			"preset": %q, "filter": %s, "chunk_id": "c000"}`, preset, filter)
		eventually(t, "gateways look for the index once a second", func() bool {
			var explained search.ExplainResponse
			r.must(http.MethodPost, "/v1/explain", body, &explained)
			return explained.Method == want
		})
	}
	f("vector", `{}`, "hnsw")
	f("vector", `{"document_id": "d0"}`, "exact")
	f("script_score", `{}`, "union")
}
