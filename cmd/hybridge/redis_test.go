package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestRedisInTrouble flushes, stops, restarts, slows and fills the Redis of gateways
// on PostgreSQL, which keep answers and keyword indexes there: what is written is
// found at once and what is deleted is not, nothing is degraded, and what Redis
// fails in is counted.
func TestRedisInTrouble(t *testing.T) {
	server := devservices.StartRedis(t)
	c := withPostgres(t, settingsIn(t.TempDir()))
	c.Redis.URL = server.URL
	options, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	f := func(name string, begin func(*redis.Client)) {
		t.Helper()
		own := *c
		own.DataDir = t.TempDir()
		r := run(t, &own) // one that has not given up on Redis
		if _, answer := r.ask(http.MethodGet, cli.BasePath("k"), ""); strings.Contains(string(answer), "not_found") {
			spec := map[string]any{"id": "k", "engine": "postgres", "dimensions": 0}
			r.must(http.MethodPost, "/v1/knowledge-bases", spec, nil)
		}
		before := r.settledRedis(client)
		begin(client)
		r.comesAndGoes(name)
		if r.redisFailures() == before {
			t.Errorf("%s, Redis fails in nothing", name)
		}
	}
	f("stopped", func(*redis.Client) { server.Stop() })
	server.Start()
	f("slow", func(client *redis.Client) { client.Do(t.Context(), "CLIENT", "PAUSE", "60000", "ALL") })
	server.Restart()
	f("full", func(client *redis.Client) { client.ConfigSet(t.Context(), "maxmemory", "1") })
}

// settledRedis has chunks come and go until Redis fails in nothing, as it should from the
// beginning: on a machine that has much else to do a command may take longer than it is
// given. It returns what failed until then.
func (r *running) settledRedis(client *redis.Client) (failures float64) {
	r.t.Helper()
	for range 5 {
		before := r.redisFailures()
		r.comesAndGoes("before")
		client.FlushAll(r.t.Context())
		r.comesAndGoes("flushed")
		if failures = r.redisFailures(); failures == before {
			return failures
		}
	}
	r.t.Errorf("nothing is wrong with Redis, and it fails in %v", failures)
	return failures
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
	r.must(http.MethodPost, cli.BasePath("k")+"/documents", line, nil)
	looks(1)
	r.must(http.MethodPost, cli.BasePath("k")+"/invalidate", nil, nil)
	looks(1)
	r.must(http.MethodDelete, cli.BasePath("k")+"/documents/"+word, nil, nil)
	looks(0)
}
