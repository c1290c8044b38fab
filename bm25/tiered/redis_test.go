package tiered

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// connect gives a client of a Redis; it is closed with the test.
func connect(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := ParseRedisURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func second(client *redis.Client) *Redis { return cooling(client, 300*time.Millisecond) }

func cooling(client *redis.Client, cooldown time.Duration) *Redis {
	return NewRedis(client, RedisOptions{
		Timeout: 10 * time.Second, Cooldown: cooldown,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

func with(r *Redis) func(*Options) {
	return func(o *Options) { o.Redis, o.DeltaRows = r, 20 }
}

// loadedBy opens a cache, asks it, and gives what it counted.
func loadedBy(t *testing.T, d *database, r *Redis) Counters {
	t.Helper()
	c := open(t, d, with(r))
	same(t, at(t, c, d.now()), d.docs())
	c.settled()
	got, _ := c.Totals()
	return got
}

func TestRedisSurvivesWhatHappensToIt(t *testing.T) {
	server := devservices.StartRedis(t)
	client := connect(t, server.URL)
	r := second(client)
	d := storedChain(t)
	f := func(what string, redis, store uint64) {
		t.Helper()
		got := loadedBy(t, d, r)
		if got.Redis != redis || got.Store != store || got.Builds != 0 {
			t.Errorf("%s: counted %+v; wanted %d from Redis, %d from the database", what, got, redis, store)
		}
	}
	f("empty", 0, 1)
	f("filled by the load before", 1, 0)
	for _, key := range client.Keys(t.Context(), "*").Val() {
		if ttl := client.TTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Hour {
			t.Errorf("%s lives for %v; want ttl above 0 and ttl at most Hour", key, ttl)
		}
	}

	client.FlushAll(t.Context())
	f("flushed", 0, 1)
	f("filled again", 1, 0)

	pieces := client.Keys(t.Context(), "*:0").Val()
	client.Del(t.Context(), pieces[0])
	f("a part expired", 0, 1)
	damaged := client.Keys(t.Context(), "*:0").Val()[0]
	data := client.Get(t.Context(), damaged).Val()
	client.Set(t.Context(), damaged, strings.Replace(data, data[20:21], "\xff", 1), time.Hour)
	if got := loadedBy(t, d, r); got.Repairs != 1 || got.Store != 1 {
		t.Errorf("a damaged part: counted %+v; want got.Repairs 1 and got.Store 1", got)
	}
	f("replaced", 1, 0)

	server.Stop()
	f("stopped", 0, 1)
	if r.Errors() == 0 {
		t.Error("a stopped Redis made no errors")
	}
	server.Start()
	time.Sleep(350 * time.Millisecond) // the breaker's cooldown
	f("restarted and empty", 0, 1)
	f("filled after the restart", 1, 0)
}

func TestRedisFollowsTheChain(t *testing.T) {
	server := devservices.StartRedis(t)
	client := connect(t, server.URL)
	r := second(client)
	d := newDatabase()
	d.write(nil, texts(500)...)
	c := open(t, d, with(r))
	for range 4 {
		same(t, at(t, c, d.now()), d.docs())
		c.settled()
		if got := loadedBy(t, d, r); got.Redis != 1 {
			t.Errorf("generation %d with %d deltas: counted %+v; want got.Redis 1", d.now(), d.head().Deltas, got)
		}
		d.write([]uint32{d.nextKey}, texts(30)...)
	}
	at(t, c, d.now())
	c.settled()
	pieces := client.Keys(t.Context(), "*:0").Val()
	d.write(nil, texts(400)...)
	at(t, c, d.now())
	c.settled()
	if got := client.Keys(t.Context(), "*:0").Val(); len(got) != 1 || slices.Contains(pieces, got[0]) {
		t.Errorf("after a new base Redis has %v", got)
	}

	d.write(nil, texts(1)...)
	if err := c.Invalidate(t.Context(), manuals); err != nil {
		t.Fatal(err)
	}
	if got := client.Keys(t.Context(), "*").Val(); len(got) != 0 {
		t.Errorf("after invalidation Redis has %v; want no got", got)
	}
	at(t, c, d.now())
	c.settled()
	c.Forget(t.Context(), manuals.KnowledgeBase)
	if got := client.Keys(t.Context(), "*").Val(); len(got) != 0 {
		t.Errorf("after the knowledge base is deleted Redis has %v; want no got", got)
	}
}

func TestRedisBehindTheDatabaseIsNotUsed(t *testing.T) {
	server := devservices.StartRedis(t)
	r := second(connect(t, server.URL))
	d := newDatabase()
	d.write(nil, texts(500)...)
	loadedBy(t, d, r)
	d.write(nil, texts(100)...)
	if got := loadedBy(t, d, nil); got.Saves != 1 {
		t.Fatalf("a gateway without Redis counted %+v", got)
	}
	if got := loadedBy(t, d, r); got.Redis != 0 || got.Store != 1 {
		t.Errorf("counted %+v; want got.Redis 0 and got.Store 1", got)
	}
	r.save(t.Context(), live(manuals), []Blob{{To: 1, Data: []byte("an older one")}})
	if got := loadedBy(t, d, r); got.Redis != 1 {
		t.Errorf("an older list hides a newer one: counted %+v; want got.Redis 1", got)
	}
}

func TestAFullRedisIsNoRedis(t *testing.T) {
	server := devservices.StartRedis(t, "--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
	r := second(connect(t, server.URL))
	d := storedChain(t)
	for range 3 {
		if got := loadedBy(t, d, r); got.Store != 1 {
			t.Errorf("counted %+v; want got.Store 1", got)
		}
	}
	if r.Errors() == 0 {
		t.Error("a full Redis made no errors")
	}
}

func TestASlowRedisIsLeftAlone(t *testing.T) {
	deadline.Set(t, time.Minute)
	server := devservices.StartRedis(t)
	client := connect(t, server.URL)
	r := cooling(client, time.Hour)
	d := storedChain(t)
	loadedBy(t, d, r)
	r.opts.Timeout = 20 * time.Millisecond
	if err := client.Do(t.Context(), "CLIENT", "PAUSE", "60000", "ALL").Err(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := loadedBy(t, d, r); got.Store != 1 {
			t.Errorf("counted %+v; want got.Store 1", got)
		}
	}
	if r.Healthy() || r.Errors() != 3 {
		t.Errorf("%d errors, still asked: %v", r.Errors(), r.Healthy())
	}
}

func TestLargePartsAreCutIntoPieces(t *testing.T) {
	server := devservices.StartRedis(t)
	client := connect(t, server.URL)
	r := second(client)
	data := make([]byte, 2*pieceSize+5)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	want := []Blob{{To: 4, Docs: 9, Data: data}, {From: 4, To: 6, Docs: 1, Data: []byte("0123456789")}}
	r.save(t.Context(), manuals, want)
	got := r.load(t.Context(), manuals)
	if len(got) != 2 || !bytes.Equal(got[0].Data, data) || string(got[1].Data) != "0123456789" || got[1].From != 4 {
		t.Errorf("loaded %d parts", len(got))
	}
	if n := len(client.Keys(t.Context(), "*").Val()); n != 5 {
		t.Errorf("%d keys, wanted 3 pieces, 1 piece and the list", n)
	}
}

func TestRedisURLs(t *testing.T) {
	if o, err := ParseRedisURL("redis://h:1/2"); err != nil || !o.ContextTimeoutEnabled || o.Addr != "h:1" || o.DB != 2 {
		t.Errorf(`%+v, %v; want no error and o.ContextTimeoutEnabled and o.Addr "h:1" and o.DB 2`, o, err)
	}
	if _, err := ParseRedisURL("http://user:secret@h"); !fault.Is(err, fault.InvalidArgument) || strings.Contains(faultDetail(err), "secret") {
		t.Errorf(`a URL of another scheme: %v; want an error of kind InvalidArgument and no "secret" in it`, err)
	}
}

func faultDetail(err error) string {
	var f *fault.Error
	errors.As(err, &f)
	return f.Detail
}

// Both Redis tiers that are away and a database that is not cost one miss.
func TestAnUnreachableRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	r := second(client)
	d := storedChain(t)
	if got := loadedBy(t, d, r); got.Store != 1 {
		t.Errorf("counted %+v; want got.Store 1", got)
	}
	r.drop(context.Background(), manuals)
	if r.Errors() < 2 {
		t.Errorf("%d errors; want r.Errors() at least 2", r.Errors())
	}
}
