package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// writesVariable is how many writes one gateway makes that the other looks for.
const writesVariable = "HYBRIDGE_TEST_WRITES"

// TestWhatOneGatewayWritesTheOtherFinds writes through one gateway, and asks the other for a
// word that no chunk had before, also before it is written: what the other remembers and
// keeps of that must not outlive the write.
func TestWhatOneGatewayWritesTheOtherFinds(t *testing.T) {
	for name, on := range map[string]func(*testing.T, *config.Config) *config.Config{
		"elasticsearch": withElasticsearch, "postgres": withPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := on(t, settingsIn(t.TempDir()))
			second := *first
			second.DataDir = t.TempDir()
			a, b := run(t, first), run(t, &second)
			a.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": name, "dimensions": 2}, nil)
			t.Cleanup(func() { a.must(http.MethodDelete, cli.BasePath("k"), nil, nil) })
			stale := 0
			for i := range countOf(t, writesVariable, 60) {
				if !a.seenBy(b, i) {
					stale++
				}
			}
			if stale > 0 {
				t.Errorf("%d answers were from before a write; want stale 0", stale)
			}
		})
	}
}

// seenBy writes a chunk and reports whether the other gateway finds it, by its words and
// with a vector beside them, and does not find what was deleted.
func (r *running) seenBy(other *running, i int) bool {
	r.t.Helper()
	word, id := fmt.Sprintf("word%d", i), fmt.Sprintf("c%d", i)
	finds := func() bool {
		for _, preset := range []string{"text", "balanced"} {
			answer := other.search(search.Request{
				Query: word, KnowledgeBases: []string{"k"}, Preset: preset, Vector: []float32{0, 1},
			})
			if len(answer.Degraded) > 0 {
				r.t.Errorf("degraded: %+v; want len(answer.Degraded) 0", answer.Degraded)
			}
			// The vectors of all chunks are the same: only its words make it the first.
			if len(answer.Hits) == 0 || answer.Hits[0].ID != id || len(answer.Hits[0].Highlights) == 0 {
				return false
			}
		}
		return true
	}
	if finds() {
		r.t.Errorf("%s is found before it is written", word)
	}
	line := fmt.Sprintf(`{"id": %q, "document_id": %[1]q, "content": "the word is %s", "vector": [1, 0.5]}`, id, word)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", line, nil)
	found := finds()
	if i%10 == 0 {
		r.must(http.MethodDelete, cli.BasePath("k")+"/documents/"+id, nil, nil)
		found = found && !finds()
	}
	return found
}

// TestAMigrationByOneGatewayIsNothingToTheOther: while a knowledge base changes its shape
// through one gateway, is taken back at once, changed again and cleaned up at once, another
// gateway that nobody tells goes on to search, list and write.
func TestAMigrationByOneGatewayIsNothingToTheOther(t *testing.T) {
	t.Parallel()
	first := withElasticsearch(t, settingsIn(t.TempDir()))
	second := *first
	second.DataDir = t.TempDir()
	a, b := run(t, first), run(t, &second)
	a.must(http.MethodPost, "/v1/knowledge-bases",
		map[string]any{"id": "k", "engine": "elasticsearch", "dimensions": 2, "embedding_model": "own"}, nil)
	t.Cleanup(func() { a.must(http.MethodDelete, cli.BasePath("k"), nil, nil) })
	const line = `{"id": "c", "document_id": "d", "content": "a word", "vector": [1, 0.5]}`
	a.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", line, nil)

	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	look := func(ask func() string) {
		others.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				if wrong := ask(); wrong != "" {
					t.Error(wrong)
				}
				time.Sleep(60 * time.Millisecond) // the migration needs processors too
			}
		})
	}
	for _, preset := range []string{"text", "balanced"} {
		look(func() string {
			answer := b.search(search.Request{
				Query: "word", KnowledgeBases: []string{"k"}, Preset: preset, Vector: []float32{0, 1},
			})
			if len(answer.Degraded) > 0 || len(answer.Hits) != 1 || len(answer.Hits[0].Highlights) == 0 {
				return fmt.Sprintf("%s: %+v", preset, answer)
			}
			return ""
		})
	}
	for _, path := range []string{"", "/documents", "/documents/d"} {
		look(func() string {
			if status, answer := b.ask(http.MethodGet, cli.BasePath("k")+path, ""); status != http.StatusOK {
				return fmt.Sprintf("%s: %d %s", path, status, answer)
			}
			return ""
		})
	}
	look(func() string {
		status, answer := b.ask(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", line)
		if status != http.StatusOK || !strings.Contains(string(answer), `"status":"updated"`) {
			return fmt.Sprintf("written: %d %s", status, answer)
		}
		return ""
	})
	m := &byCommand{command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + a.url}}}
	m.state("apply k --analyzer standard", engine.MigrationSwitched)
	m.state("rollback k", engine.MigrationRolledBack)
	m.state("apply k --analyzer standard", engine.MigrationSwitched)
	m.state("cleanup --yes k", engine.MigrationDone)
	stop()
	others.Wait()
}

// withElasticsearch configures indices of the test's own.
func withElasticsearch(t *testing.T, c *config.Config) *config.Config {
	t.Helper()
	url, prefix := devservices.Indices(t)
	c.Elasticsearch.URL, c.Elasticsearch.IndexPrefix = []string{url}, prefix
	return c
}
