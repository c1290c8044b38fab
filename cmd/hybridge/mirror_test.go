package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestOneKnowledgeBaseOnTwoEngines: one write, and both real engines answer alike;
// what is deleted behind the gateway's back is found and repaired, and an engine
// that was away gets what it missed.
func TestOneKnowledgeBaseOnTwoEngines(t *testing.T) {
	t.Parallel()
	postgres := devservices.StartPostgres(t)
	for _, pair := range [][]string{
		{"embedded", "elasticsearch"}, {"embedded", "postgres"}, {"postgres", "elasticsearch"},
	} {
		t.Run(strings.Join(pair, " and "), func(t *testing.T) {
			c := withModel(settingsIn(t.TempDir()), devservices.Embedding(t))
			own := fmt.Sprintf("mirror%d", time.Now().UnixNano())
			if slices.Contains(pair, "elasticsearch") {
				c.Elasticsearch.URL = make([]string, 1)
				c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
			}
			if slices.Contains(pair, "postgres") {
				c.Postgres.URL, c.Postgres.Schema, c.Postgres.KeywordWait = postgres.URL, own, 10*time.Second
			}
			m := &mirrored{running: run(t, c), engines: pair}
			defer m.stop()
			m.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "engines": pair}, nil)
			defer m.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
			m.answersAlike()
			m.repairsDrift()
			if slices.Contains(pair, "postgres") {
				m.catchesUp(postgres)
			}
		})
	}
}

// mirrored is a gateway with the knowledge base shop on two engines.
type mirrored struct {
	*running
	engines []string
}

// wrote ingests lines and wants one result for each engine and chunk.
func (m *mirrored) wrote(lines string, status map[string]string) {
	m.t.Helper()
	code, answer := m.ask(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", lines)
	for _, name := range m.engines {
		result := fmt.Sprintf(`"engine":%q,"status":%q`, name, status[name])
		if got, want := strings.Count(string(answer), result), strings.Count(lines, "\n"); code != http.StatusOK || got != want {
			m.t.Fatalf("ingest: %d, %d times %s, want %d in %s", code, got, result, want, brief.Of(answer))
		}
	}
}

func (m *mirrored) answersAlike() {
	m.t.Helper()
	m.wrote(bilingual, map[string]string{m.engines[0]: "created", m.engines[1]: "created"})
	first := map[string]search.Hit{}
	for _, name := range append(m.engines, "") {
		response := m.search(search.Request{Query: "如何申请退款", KnowledgeBases: []string{"shop"}, Engine: name})
		if len(response.Hits) == 0 || response.Hits[0].ID != "refund-zh" || name != "" && response.Engine != name {
			m.t.Fatalf("engine %q: %+v", name, response)
		}
		first[name] = response.Hits[0]
	}
	if a, b := first[m.engines[0]].Score, first[m.engines[1]].Score; math.Abs(a-b) > 1e-4 {
		m.t.Errorf("scores %v and %v; want math.Abs(a - b) at most 1e-4", a, b)
	}
}

// repairsDrift spoils the second engine: a chunk goes, one changes, and one comes.
func (m *mirrored) repairsDrift() {
	m.t.Helper()
	second := m.app.Engine(m.engines[1])
	all, err := second.KnowledgeBases(m.t.Context())
	if err != nil || len(all) != 1 {
		m.t.Fatalf("%+v, %v; want no error and 1 all", all, err)
	}
	if _, err := second.DeleteChunks(m.t.Context(), all[0], []string{"coffee-en"}); err != nil {
		m.t.Fatal(err)
	}
	others := []engine.Chunk{
		{ID: "extra", DocumentID: "extra", Content: "unknown to the first", Available: true},
		{ID: "train-zh", DocumentID: "travel", Content: "another edition", Available: true},
	}
	if _, err := second.Write(m.t.Context(), engine.WriteRequest{KB: all[0], Chunks: others, Refresh: true}); err != nil {
		m.t.Fatal(err)
	}
	line, check := command{t: m.t, folder: m.t.TempDir()}, "kb check shop --server "+m.url
	line.want(cli.ExitFailed, "", check, m.engines[1]+" has 4: 1 missing, 1 extra, 1 stale", "--repair makes them one")
	line.want(cli.ExitOK, "", check+" --repair", "1 missing, 1 extra, 1 stale", "repaired")
	line.want(cli.ExitOK, "", check, m.engines[1]+" has 4: 0 missing, 0 extra, 0 stale")
}

// catchesUp stops PostgreSQL for one write.
func (m *mirrored) catchesUp(server *devservices.Server) {
	m.t.Helper()
	server.Stop()
	other := m.engines[0]
	if other == "postgres" {
		other = m.engines[1]
	}
	const late = `{"id": "late", "document_id": "late", "content": "Written while one engine was away."}` + "\n"
	m.wrote(late, map[string]string{"postgres": "failed", other: "created"})
	server.Start()
	eventually(m.t, "the outbox is empty", func() bool {
		var d struct {
			Details struct {
				Engines map[string]struct{ Behind *int }
			}
		}
		code, answer := m.ask(http.MethodGet, cli.BasePath("shop"), "")
		if code != http.StatusOK || json.Unmarshal(answer, &d) != nil {
			return false
		}
		behind := d.Details.Engines["postgres"].Behind
		return behind != nil && *behind == 0
	})
	var report engine.DriftReport
	m.must(http.MethodPost, cli.BasePath("shop")+"/check", map[string]any{}, &report)
	if len(report.Engines) != 1 || report.Engines[0].Chunks != 5 || report.Engines[0].Differs() {
		m.t.Errorf("after the outbox: %+v", report)
	}
}
