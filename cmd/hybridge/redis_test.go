package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestRedisInTrouble stops, restarts, flushes, fills and slows the Redis of gateways
// on PostgreSQL, which keep answers and keyword indexes there: what is written is
// found at once and what is deleted is not, nothing is degraded, and what Redis
// fails in is counted.
func TestRedisInTrouble(t *testing.T) {
	t.Parallel()
	server := devservices.StartRedis(t)
	c := withPostgres(t, settingsIn(t.TempDir()))
	c.Redis.URL = server.URL
	other := *c // stays, so that the next ones find the dictionaries loaded
	other.DataDir = t.TempDir()
	run(t, &other).must(http.MethodPost, "/v1/knowledge-bases",
		map[string]any{"id": "k", "engine": "postgres", "dimensions": 0}, nil)
	f := func(name string, fails bool, begin func(*redis.Client)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := run(t, c) // one that has not given up on Redis
			defer r.stop()
			begin(r.app.redis)
			r.comesAndGoes(name)
			if failures := r.redisFailures(); (failures > 0) != fails {
				t.Errorf("%v failures of Redis", failures)
			}
		})
	}
	f("well", false, func(*redis.Client) {})
	f("stopped", true, func(*redis.Client) { server.Stop() })
	f("started", false, func(*redis.Client) { server.Start() })
	f("flushed", false, func(client *redis.Client) { client.FlushAll(t.Context()) })
	f("slow", true, func(client *redis.Client) { client.Do(t.Context(), "CLIENT", "PAUSE", "60000", "ALL") })
	f("restarted", false, func(*redis.Client) { server.Restart() })
	f("full", true, func(client *redis.Client) { client.ConfigSet(t.Context(), "maxmemory", "1") })
	f("killed", true, func(*redis.Client) { server.Kill() })
}

// redisFailures adds up what the metrics say.
func (r *running) redisFailures() (failures float64) {
	r.t.Helper()
	_, metrics := r.ask(http.MethodGet, "/metrics", "")
	for line := range strings.Lines(string(metrics)) {
		var value float64
		for _, name := range []string{"hybridge_bm25_redis_errors_total", "hybridge_result_cache_redis_failures_total"} {
			if n, _ := fmt.Sscanf(line, name+" %g", &value); n == 1 {
				failures += value
			}
		}
	}
	return failures
}

// comesAndGoes writes a chunk, looks for it with the keyword index as it is and
// with a new one, and deletes it.
func (r *running) comesAndGoes(word string) {
	r.t.Helper()
	looks := func(want int) {
		r.t.Helper()
		for range 2 { // the second answer may be a kept one
			response := r.search(search.Request{Query: word, KnowledgeBases: []string{"k"}, Preset: "text"})
			if len(response.Hits) != want || len(response.Degraded) > 0 {
				r.t.Errorf("%d hits, want %d, degraded %+v", len(response.Hits), want, response.Degraded)
			}
		}
	}
	line := fmt.Sprintf(`{"id": %q, "document_id": %[1]q, "content": "the word is %[1]s"}`+"\n", word)
	r.must(http.MethodPost, basePath("k")+"/documents", line, nil)
	looks(1)
	r.must(http.MethodPost, basePath("k")+"/invalidate", nil, nil)
	looks(1)
	r.must(http.MethodDelete, basePath("k")+"/documents/"+word, nil, nil)
	looks(0)
}
