package gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestExport(t *testing.T) {
	g := start(t, Options{})
	f := func(query string, status int, lines int, last string) {
		t.Helper()
		got := g.ask("GET", "/v1/knowledge-bases/manuals/chunks"+query, "")
		all := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
		if got.status != status || len(all) != lines || !strings.Contains(all[len(all)-1], last) {
			t.Errorf("%s: %d %s", query, got.status, brief.Of(got.body))
		}
		if want := "application/x-ndjson"; status == 200 && got.header.Get("Content-Type") != want {
			t.Errorf("%s: %v", query, got.header)
		}
	}
	f("?vectors=true", 200, 2, `"vector":[0.5]}`)
	f("", 200, 2, `"content":"A refund`)
	f("?after=cut", 200, 3, `"code":"unavailable"`)
	f("?limit=-1", 400, 1, `"field":"limit"`)
	f("?vectors=maybe", 400, 1, `"field":"vectors"`)
	if got := g.ask("GET", "/v1/knowledge-bases/nope/chunks", ""); got.status != 404 {
		t.Errorf("%d %s; want got.status 404", got.status, brief.Of(got.body))
	}
	if got := g.ask("HEAD", "/v1/knowledge-bases/manuals/chunks", ""); got.status != 200 || got.body != "" {
		t.Errorf(`HEAD: %d %q; want got.status 200 and got.body ""`, got.status, brief.Of(got.body))
	}
}

// Whoever goes away ends the reading.
func TestAnExportThatNobodyReadsEnds(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{})
	response, err := g.client.Get(g.url + "/v1/knowledge-bases/manuals/chunks?after=endless") //nolint:noctx,bodyclose // closed below
	if err != nil {
		t.Fatal(err)
	}
	if _, err := response.Body.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	shut(t, response.Body)
	for deadline := time.Now().Add(30 * time.Second); g.ended.Load() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it goes on")
		}
	}
}
