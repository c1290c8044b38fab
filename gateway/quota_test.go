package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestTenantsHaveTheirQuotas(t *testing.T) {
	deadline.AwayFromMidnight(t, 10*time.Second)
	store, err := quota.OpenSQLite(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := newClock()
	c.move(-time.Second / 4) // a part of a second is waited for as a whole one: who comes as told is not refused again
	g := start(t, Options{Options: endpoint.Options{Quota: quota.New(quota.Options{
		Now: c.now, Limits: quota.Limits{Bytes: 50, KnowledgeBases: 1, Chunks: 10}, Store: store, Logger: slog.New(slog.DiscardHandler),
		Count: func(context.Context, string) (quota.Counts, error) { return quota.Counts{}, nil },
	})}})
	documents := "/v1/knowledge-bases/" + base + "/documents"
	f := func(path, body, kind string, status int, detail string) reply {
		t.Helper()
		got := g.ask(http.MethodPost, path, body, "Content-Type: "+kind)
		if got.status != status || !strings.Contains(got.body, detail) {
			t.Errorf("%s: %d %s, want %d %s", path, got.status, brief.Of(got.body), status, detail)
		}
		return got
	}
	chunk := `{"id": "a", "document_id": "d", "content": "x"}`
	f(documents, chunk, endpoint.NDJSON, http.StatusOK, "")
	got := f(documents, chunk, endpoint.NDJSON, http.StatusTooManyRequests, "limits.tenant_bytes_a_day is 50")
	if got.header.Get("Retry-After") != "3601" || // until midnight
		!strings.Contains(got.header.Get("RateLimit"), `"tenant-bytes";r=3;t=3601`) ||
		!strings.Contains(got.header.Get("RateLimit-Policy"), `"tenant-bytes";q=50;w=86400`) {
		t.Errorf("headers: %v; want got.header.Get(\"Retry-After\") \"3601\" and `\"tenant-bytes\";r=3;t=3601` in it and `\"tenant-bytes\";q=50;w=86400` in it", got.header)
	}
	f("/v1/knowledge-bases/"+base+"/files?name=a.txt", chunk, "application/octet-stream",
		http.StatusTooManyRequests, "limits.tenant_bytes_a_day")
	f("/v1/knowledge-bases", `{"id": "one"}`, "application/json", http.StatusCreated, "")
	f("/v1/knowledge-bases", `{"id": "two"}`, "application/json", http.StatusTooManyRequests,
		"limits.tenant_knowledge_bases is 1")
}
