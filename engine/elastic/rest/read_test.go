package rest_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestAReadWaitsForTheShardOfANewIndex, for which no node is allowed until a moment later.
func TestAReadWaitsForTheShardOfANewIndex(t *testing.T) {
	for name, read := range map[string]func(index string) rest.Request{
		"document": func(index string) rest.Request { return rest.Get(index + "/_doc/1") },
		"search": func(index string) rest.Request {
			return rest.Post(index+"/_search?allow_partial_search_results=false", esquery.Search{Query: esquery.MatchNone{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitsForShard(t, read)
		})
	}
}

func waitsForShard(t *testing.T, read func(index string) rest.Request) {
	t.Helper()
	url, prefix := devservices.Indices(t)
	c, err := rest.New(&rest.Options{
		URLs: []string{url}, Timeout: 10 * time.Second, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	index := "/" + prefix + "-new"
	const node = "index.routing.allocation.require._name"
	change := func(path string, body any) {
		t.Helper()
		if err := c.Change(t.Context(), rest.Put(path, body), nil); err != nil {
			t.Fatal(err)
		}
	}
	change(index+"?wait_for_active_shards=0", map[string]any{"settings": map[string]any{node: "nobody"}})

	began := time.Now()
	err = c.Read(t.Context(), read(index), nil)
	// How often it is asked again, and when, is in TestWhatIsSentAgain; a busy machine takes longer.
	if took := time.Since(began); !fault.Is(err, fault.Unavailable) || took < 1500*time.Millisecond {
		t.Errorf("before there is a shard: %v after %v, want unavailable after a second and a half", err, took)
	}
	change(index+"/_settings", map[string]any{node: nil})
	for patience := time.Now().Add(devservices.Patience); fault.Is(err, fault.Unavailable) && time.Now().Before(patience); {
		err = c.Read(t.Context(), read(index), nil) // a busy machine takes longer to start it
	}
	if err != nil && !fault.Is(err, fault.NotFound) { // there is no such document
		t.Errorf("when there is a shard: %v; want no error or an error of kind NotFound", err)
	}
}
