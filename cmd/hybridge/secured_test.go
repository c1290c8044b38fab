package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestASecuredElasticsearch reaches one by settings alone that is secured as it is by
// default: https by a certificate of its own authority, and a password.
func TestASecuredElasticsearch(t *testing.T) {
	t.Parallel()
	authority, another := devservices.NewAuthority(t), devservices.NewAuthority(t)
	server := devservices.StartElasticsearch(t, authority)
	file := func(content []byte) string {
		path := filepath.Join(t.TempDir(), "ca.crt")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := func(change func(es *config.Elasticsearch)) *running {
		c := settingsIn(t.TempDir())
		c.DefaultEngine, c.Elasticsearch.URL = "elasticsearch", []string{server.URL}
		c.Elasticsearch.Username = devservices.ElasticsearchUser
		c.Elasticsearch.Password = devservices.ElasticsearchPassword
		change(&c.Elasticsearch)
		return run(t, c)
	}
	const kb = "secured"
	byFile := with(func(es *config.Elasticsearch) { es.CAFile = file(authority.PEM) })
	const line = `{"id": "a", "document_id": "d", "content": "a refund"}`
	// It listens before it is ready: what failed half-way is taken back, maybe after the next attempt.
	deadline := time.Now().Add(devservices.Patience)
	for ; ; time.Sleep(200 * time.Millisecond) {
		byFile.ask(http.MethodPost, "/v1/knowledge-bases", `{"id": "`+kb+`", "dimensions": 0}`)
		status, answer := byFile.ask(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", line)
		if status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not become ready: %d %s", status, brief.Of(answer))
		}
	}
	byFingerprint := with(func(es *config.Elasticsearch) { es.CAFingerprint = authority.Fingerprint })
	byNobody := with(func(es *config.Elasticsearch) { es.InsecureSkipVerify = true })
	for name, r := range map[string]*running{"file": byFile, "fingerprint": byFingerprint, "nobody": byNobody} {
		got := r.search(search.Request{Query: "refund", KnowledgeBases: []string{kb}, Preset: "text"})
		if len(got.Hits) != 1 {
			t.Errorf("%s: %d hits; want 1 got.Hits", name, len(got.Hits))
		}
	}
	f := func(name, want string, change func(es *config.Elasticsearch)) {
		t.Helper()
		r := with(change)
		status, answer := r.ask(http.MethodGet, cli.BasePath(kb), "")
		for patience := time.Now().Add(devservices.Patience); status == http.StatusGatewayTimeout && time.Now().Before(patience); {
			status, answer = r.ask(http.MethodGet, cli.BasePath(kb), "") // a busy machine may be late, but not always
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), want) {
			t.Errorf("%s: got %d %s, want %s", name, status, brief.Of(answer), want)
		}
	}
	f("another authority", "elasticsearch.ca_file", func(es *config.Elasticsearch) { es.CAFile = file(another.PEM) })
	f("another fingerprint", "elasticsearch.ca_fingerprint", func(es *config.Elasticsearch) { es.CAFingerprint = another.Fingerprint })
	f("the system's authorities", "elasticsearch.ca_file", func(*config.Elasticsearch) {})
	f("another password", "elasticsearch.api_key", func(es *config.Elasticsearch) {
		es.CAFile, es.Password = file(authority.PEM), "no such"
	})
}
