package rerank_test

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search/rerank"
)

// serve answers every request with one status and body, and keeps what was
// asked.
func serve(t *testing.T, status int, body string) (*rerank.Client, *map[string]any) {
	t.Helper()
	asked := &map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(asked)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return rerank.New(rerank.Options{URL: server.URL, Model: "m", APIKey: "k", Timeout: time.Second}), asked
}

func TestRerankKeepsTheOrderOfTheTexts(t *testing.T) {
	client, asked := serve(t, 200, `{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}`)
	scores, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
	if err != nil || scores[0] != 0.2 || scores[1] != 0.9 {
		t.Errorf("scores %v, %v; want 0.2 0.9", scores, err)
	}
	if (*asked)["query"] != "q" || (*asked)["model"] != "m" || (*asked)["top_n"] != 2.0 {
		t.Errorf(`asked %v; want (*asked)["query"] "q" and (*asked)["model"] "m" and (*asked)["top_n"] 2.0`, *asked)
	}
}

// TestShapes asks services of each shape in their own words, as their references have them.
func TestShapes(t *testing.T) {
	for shape, c := range map[string]struct{ body, members string }{
		"cohere": {`{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}`, "documents model query top_n"},
		"tei":    {`[{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]`, "query texts truncate"},
		"voyage": {`{"object": "list", "data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}`, "documents model query top_k"},
	} {
		asked := map[string]any{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewDecoder(r.Body).Decode(&asked)
			_, _ = w.Write([]byte(c.body))
		}))
		client := rerank.New(rerank.Options{URL: server.URL, Model: "m", Shape: shape, Timeout: time.Second})
		scores, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
		server.Close()
		if err != nil || scores[0] != 0.2 || scores[1] != 0.9 {
			t.Errorf("%s: scores %v, %v; want 0.2 0.9", shape, scores, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(asked)), " "); got != c.members {
			t.Errorf("%s: asked by %s, want %s", shape, got, c.members)
		}
	}
}

func TestLogitsGoThroughASigmoid(t *testing.T) {
	client, _ := serve(t, 200, `{"results": [{"index": 0, "relevance_score": -2}, {"index": 1, "relevance_score": 0.5}]}`)
	scores, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
	if err != nil || math.Abs(scores[0]-1/(1+math.Exp(2))) > 1e-12 || math.Abs(scores[1]-1/(1+math.Exp(-0.5))) > 1e-12 {
		t.Errorf("scores %v, %v; want no error and math.Abs(scores[0] - 1/(1+math.Exp(2))) at most 1e-12 and math.Abs(scores[1] - 1/(1+math.Exp(-0.5))) at most 1e-12", scores, err)
	}
}

func TestFaults(t *testing.T) {
	f := func(status int, body string, kind fault.Kind) {
		t.Helper()
		client, _ := serve(t, status, body)
		if _, err := client.Rerank(t.Context(), "q", []string{"a", "b"}); !fault.Is(err, kind) {
			t.Errorf("%d %s: %v, want %s", status, brief.Of(body), err, kind)
		}
	}
	f(429, "", fault.Overloaded)
	f(500, "", fault.Unavailable)
	f(200, "<html>", fault.Unavailable)
	f(200, `{"results": [{"index": 0, "relevance_score": 1}]}`, fault.Unavailable)
	f(200, `{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}`, fault.Unavailable)
	f(200, `{"results": [{"index": 0, "relevance_score": 1}, {"index": 7, "relevance_score": 1}]}`, fault.Unavailable)
}

func TestAnAbsentServiceIsUnavailable(t *testing.T) {
	client := rerank.New(rerank.Options{URL: "http://127.0.0.1:1/rerank"})
	if _, err := client.Rerank(t.Context(), "q", []string{"a"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v, want unavailable", err)
	}
}
