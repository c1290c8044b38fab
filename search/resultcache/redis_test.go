package resultcache_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search/resultcache"
)

// clientOf is made as the program makes its own: it keeps to deadlines and does
// not repeat.
func clientOf(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.ContextTimeoutEnabled, o.MaxRetries = true, -1
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// through asks a gateway of its own, which has nothing in memory, and waits until
// it has given to Redis what it gives.
func (b *bench) through(client *redis.Client, cached bool) {
	b.Helper()
	s, err := resultcache.New(b.inner, resultcache.Options{TTL: time.Minute, Memory: 1 << 20, Redis: client})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if r := b.ask(s, refund); r.Cached != cached || !strings.HasPrefix(ids(r), "c") {
		b.Errorf("hits %s, cached %v; want %v", ids(r), r.Cached, cached)
	}
}

func TestGatewaysShareAnswersThroughRedis(t *testing.T) {
	b := newBench(t)
	client := clientOf(t, devservices.StartRedis(t).URL)
	b.through(client, false)
	b.through(client, true)
	b.write("c2", "refund")
	b.through(client, false)
	b.through(client, true)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	b.through(client, false)
	names, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(names) != 1 {
		t.Fatalf("keys %v, %v; want no error and 1 names", names, err)
	}
	if left, err := client.TTL(t.Context(), names[0]).Result(); err != nil || left <= 0 || left > time.Minute {
		t.Errorf("the answer is kept for %v, %v; want no error and left above 0 and left at most Minute", left, err)
	}
	for _, damaged := range []string{"", "x", "12345678", "12345678not packed", string(make([]byte, 100))} {
		if err := client.Set(t.Context(), names[0], damaged, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		b.through(client, false)
	}
}

// TestWhatRedisHasIsReadOnce: a gateway has it in memory from then on.
func TestWhatRedisHasIsReadOnce(t *testing.T) {
	b := newBench(t)
	client := clientOf(t, devservices.StartRedis(t).URL)
	b.through(client, false)
	s := b.keep(func(o *resultcache.Options) { o.Redis = client })
	b.asked(s, refund, true, 1)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	b.asked(s, refund, true, 1)
}

func TestWithoutRedisAnswersAreComputed(t *testing.T) {
	server := devservices.StartRedis(t, "--maxmemory", "2mb", "--maxmemory-policy", "noeviction")
	client := clientOf(t, server.URL)
	b := newBench(t)
	faults := map[string]func(){
		"stopped": server.Stop,
		"slow": func() {
			server.Start()
			if err := client.Do(t.Context(), "CLIENT", "PAUSE", "60000", "ALL").Err(); err != nil {
				t.Fatal(err)
			}
		},
		"full": func() {
			server.Restart()
			for err := error(nil); err == nil; {
				err = client.RPush(t.Context(), "full", strings.Repeat("x", 100_000)).Err()
			}
		},
	}
	for _, name := range []string{"stopped", "slow", "full"} {
		t.Log(name)
		faults[name]()
		b.through(client, false)
		b.through(client, false)
	}
	server.Restart()
	b.through(client, false)
	b.through(client, true)
}

func TestRedisIsLeftAloneWhenItFails(t *testing.T) {
	deadline.Set(t, time.Minute)
	server := devservices.StartRedis(t)
	client := clientOf(t, server.URL)
	server.Stop()
	b := newBench(t)
	registry := prometheus.NewRegistry()
	s := b.keep(func(o *resultcache.Options) { o.Redis, o.Registry = client, registry })
	for range 5 {
		b.write("c1", "refund")
		b.asked(s, refund, false, b.engine.searches.Load()+1)
		s.WaitForWork()
	}
	b.asked(s, refund, true, 5)
	passed := refund
	passed.Cache = yes(false)
	b.ask(s, passed)
	for from, want := range map[string]float64{"computed": 5, "memory": 1, "passed": 1, "redis": 0, "shared": 0} {
		if got := metric(t, registry, "hybridge_result_cache_requests_total", from); got != want {
			t.Errorf("%v answers from %s, want %v", got, from, want)
		}
	}
	if got := metric(t, registry, "hybridge_result_cache_bytes", ""); !(got > 0) {
		t.Errorf("%v bytes kept; want got above 0", got)
	}
	if failures := failuresOf(t, registry); failures != 3 {
		t.Errorf("%v commands failed, want 3 and then none", failures)
	}
}

func failuresOf(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	return metric(t, registry, "hybridge_result_cache_redis_failures_total", "")
}

// metric gives the value of a counter or gauge, by its label where it has one.
func metric(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s of %s", name, label)
	return 0
}

func TestARequestThatLeavesIsNoFaultOfRedis(t *testing.T) {
	deadline.Set(t, time.Minute)
	client := clientOf(t, devservices.StartRedis(t).URL)
	b := newBench(t)
	registry := prometheus.NewRegistry()
	s := b.keep(func(o *resultcache.Options) { o.Redis, o.Registry = client, registry })
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 5 {
		// Whether the answer or the leaving comes first is open.
		if _, err := s.Search(gone, scope, refund); err != nil && !fault.Is(err, fault.Canceled) {
			t.Error(err)
		}
	}
	if failures := failuresOf(t, registry); failures != 0 {
		t.Errorf("%v failures; want failures 0", failures)
	}
	if r := b.ask(s, refund); ids(r) != "c1" { // and the answer is there for others
		t.Errorf(`hits %s; want ids(r) "c1"`, ids(r))
	}
}
