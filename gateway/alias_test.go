package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// keeper keeps what it is given, as a cache would.
type keeper struct {
	*fakes
	mu     sync.Mutex
	values []string
}

func (k *keeper) keep(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values = append(k.values, values...)
}

func (k *keeper) GetChunk(ctx context.Context, scope access.Scope, kb, id string) (engine.Chunk, error) {
	k.keep(id)
	return k.fakes.GetChunk(ctx, scope, kb, id)
}

func (k *keeper) Documents(
	ctx context.Context, scope access.Scope, kb string, page ingest.Page,
) ([]engine.Document, error) {
	k.keep(page.After)
	return k.fakes.Documents(ctx, scope, kb, page)
}

func (k *keeper) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	k.keep(req.Query, strings.Trim(string(req.Filter["f"]), `"`))
	return k.fakes.Search(ctx, scope, req)
}

// Values of a request outlive it in caches and stores: nothing of it may share
// memory with the buffers that the next requests are read into.
func TestNothingAliasesTheRequest(t *testing.T) {
	kept := &keeper{}
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k", "acme")}}}, func(f *fakes, options *Options) {
		kept.fakes, options.Ingester, options.Searcher = f, kept, kept
	})
	const clients, each = 8, 50
	var wait sync.WaitGroup
	for client := range clients {
		wait.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d-%s", client, i, strings.Repeat(string(rune('a'+client)), 20+i))
				g.ask(http.MethodGet, "/v1/knowledge-bases/manuals/chunks/"+id, "", "X-API-Key: k")
				g.ask(http.MethodGet, "/v1/knowledge-bases/manuals/documents?after="+id, "", "X-API-Key: k")
				g.ask(http.MethodPost, "/v1/search",
					fmt.Sprintf(`{"query": %q, "knowledge_bases": ["manuals"], "filter": {"f": %q}}`, id, id), asJSON, "X-API-Key: k")
			}
		})
	}
	wait.Wait()
	seen := map[string]int{}
	for _, value := range kept.values {
		seen[value]++
	}
	if len(seen) != clients*each {
		t.Errorf("%d different values were kept of %d", len(seen), clients*each)
	}
	for value, count := range seen {
		if count != 4 {
			t.Errorf("%q was kept %d times, want 4", value, count)
		}
	}
}
