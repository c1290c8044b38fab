package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// failing searches fail by their query.
type failing struct{ searches.Searcher }

func (f failing) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	if req.Query == "panic" {
		panic("of the search")
	}
	return f.Searcher.Search(ctx, scope, req)
}

func batchOf(queries ...string) string {
	list := make([]string, len(queries))
	for i, q := range queries {
		kb := "manuals"
		if q == "lost" {
			kb = "nothing"
		}
		list[i] = fmt.Sprintf(`{"query": %q, "knowledge_bases": [%q]}`, q, kb)
	}
	return `{"searches": [` + strings.Join(list, ",") + `]}`
}

func TestSearchesOfABatchFailAlone(t *testing.T) {
	g := start(t, Options{}, func(f *fakes, options *Options) { options.Searcher = failing{f} })
	got := g.ask(http.MethodPost, "/v1/search/batch", batchOf("a", "lost", "panic", "b"), asJSON)
	if got.status != http.StatusOK {
		t.Fatalf("%d %s; want got.status StatusOK", got.status, brief.Of(got.body))
	}
	var answer searches.BatchAnswer
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Answers) != 4 {
		t.Fatalf("%d answers; want 4 answer.Answers", len(answer.Answers))
	}
	for i, code := range []string{"", "not_found", "internal", ""} {
		a := answer.Answers[i]
		switch {
		case code == "" && (a.Response == nil || a.Error != nil || len(a.Response.Hits) == 0):
			t.Errorf("answer %d: %+v", i, a)
		case code != "" && (a.Error == nil || a.Error.Code != code || a.Response != nil):
			t.Errorf("answer %d: %+v, want %s", i, a, code)
		case a.Error != nil && strings.Contains(a.Error.Detail, "panic"):
			t.Errorf("answer %d tells of the failure: %s", i, a.Error.Detail)
		}
	}
	for _, body := range []string{`{}`, `{"searches": []}`, batchOf(strings.Split(strings.Repeat("a ", 65), " ")[:65]...), `{"searches": [5]}`} {
		if got := g.ask(http.MethodPost, "/v1/search/batch", body, asJSON); got.status != http.StatusBadRequest {
			t.Errorf("%.60s: %d %s; want got.status StatusBadRequest", body, got.status, brief.Of(got.body))
		}
	}
}

func TestABatchIsNoLargerThanAnAnswer(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{AnswerBytes: 4000}}})
	f := func(n, status int) {
		t.Helper()
		queries := strings.Split(strings.Repeat("a ", n), " ")[:n]
		if got := g.ask(http.MethodPost, "/v1/search/batch", batchOf(queries...), asJSON); got.status != status {
			t.Errorf("%d searches: %d %.200s, want %d", n, got.status, got.body, status)
		}
	}
	f(1, http.StatusOK)
	f(40, http.StatusRequestEntityTooLarge)
}

func TestSearchesOfABatchCountAsRequests(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{KeyRate: 20}, Keys: []endpoint.Key{key("k1", "acme")}}})
	const auth = "Authorization: Bearer k1"
	queries := strings.Split(strings.Repeat("a ", 20), " ")[:20]
	for attempt := 0; ; attempt++ {
		if got := g.ask(http.MethodPost, "/v1/search/batch", batchOf(queries...), asJSON, auth); got.status != http.StatusOK {
			t.Fatalf("%d %s; want got.status StatusOK", got.status, brief.Of(got.body))
		}
		got := g.ask(http.MethodPost, "/v1/search", question, asJSON, auth)
		if got.status == http.StatusTooManyRequests {
			return
		}
		if attempt == 100 { // a busy machine may take the 50 ms that bring one more, but not always
			t.Fatalf("after 20 searches of 20 a second: %d; want attempt other than 100", got.status)
		}
		time.Sleep(1100 * time.Millisecond) // until all 20 are there again
	}
}
