package search_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
)

// counter counts the searches that are sent.
type counter struct {
	http.RoundTripper
	searches atomic.Int64
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/_search") {
		c.searches.Add(1)
	}
	return c.RoundTripper.RoundTrip(req)
}

func TestElasticsearchBringsThePageWithTheJointRanking(t *testing.T) {
	sent := &counter{RoundTripper: &http.Transport{DisableKeepAlives: true}}
	b := newBench(t, func(t *testing.T, analyzer *analysis.Analyzer) engine.Engine {
		return openElasticsearchBy(t, analyzer, sent)
	})
	b.fill("manuals", shelf()...)
	f := func(more string, want int64) {
		t.Helper()
		body := `{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0]` + more + `}`
		b.answer(body) // what is remembered of the knowledge base is not asked again
		before := sent.searches.Load()
		r := b.answer(body)
		if n := sent.searches.Load() - before; n != want {
			t.Errorf("%s took %d searches, want %d", more, n, want)
		}
		for _, hit := range r.Hits {
			if hit.Content == "" || hit.ID == "" {
				t.Errorf("%s: %+v has no content", more, hit)
			}
		}
		b.holds(r)
	}
	f(`, "preset": "balanced"`, 1)
	f(`, "preset": "script_score"`, 1)
	f(`, "preset": "script_score", "offset": 1, "limit": 2`, 1)
	f(`, "preset": "balanced", "group_by": "document_id"`, 2) // which chunks stand for documents is not known before
	f(`, "preset": "script_score", "top_k": 200, "candidates": 200`, 2)
}
