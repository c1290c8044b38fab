package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// Each is answered by a problem that names the field, or correctly; never by a
// failure of ours.
func TestBadInput(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 3}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents",
		`{"id": "a", "content": "the <b>cat</b> sat on the mat", "vector": [1, 0, 0]}`, nil)

	bad := func(body string, status int, field string) {
		t.Helper()
		got, text := r.ask(http.MethodPost, "/v1/search", body)
		var p endpoint.Problem
		if err := json.Unmarshal(text, &p); err != nil || got != status || p.Status != status || p.Field != field ||
			p.Detail == "" {
			t.Errorf("%.100s: %d %.300s, want %d about %q", body, got, text, status, field)
		}
	}
	good := func(body string) {
		t.Helper()
		got, text := r.ask(http.MethodPost, "/v1/search", body)
		var response search.Response
		if err := json.Unmarshal(text, &response); err != nil || got != http.StatusOK {
			t.Errorf("%.100s: %d %.300s (%v); want no error and got StatusOK", body, got, text, err)
		}
		if response.Total.Value == 0 && response.Empty == "" && len(response.Degraded) == 0 {
			t.Errorf("%.100s: an empty answer that does not say why", body)
		}
	}
	asked := func(members string) string { return `{"query": "cat", "knowledge_bases": ["k"], ` + members + `}` }
	query := func(text string) string {
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return `{"query": ` + string(encoded) + `, "knowledge_bases": ["k"], "preset": "text"}`
	}

	bad(query(""), 400, "query")
	bad(query(" \t\n　"), 400, "query")
	bad(query(strings.Repeat("猫", 400_000)), 413, "")
	bad(query(strings.Repeat("cat ", 10_000)), 413, "query")
	bad("{\"query\": \"\xff\xfe\", \"knowledge_bases\": [\"k\"]}", 400, "query")
	bad(asked(`"preset": "rff"`), 400, "preset")
	bad(asked(`"engine": "oracle"`), 400, "engine")
	bad(`{"query": "cat", "knowledge_bases": ["nope"]}`, 404, "knowledge_base")
	bad(`{"query": "cat", "knowledge_bases": []}`, 400, "knowledge_bases")
	bad(asked(`"kind": "x"`), 400, "kind")
	bad(asked(`"weights": {"text": -1}`), 400, "weights.text")
	bad(asked(`"weights": {"text": NaN}`), 400, "weights.text")
	bad(asked(`"weights": {"text": 0, "vector": 0}`), 400, "weights")
	bad(asked(`"weights": {"colour": 1}`), 400, "weights.colour")
	bad(asked(`"rrf_k": 0`), 400, "rrf_k")
	bad(asked(`"top_k": 0`), 400, "top_k")
	bad(asked(`"top_k": 10001`), 400, "top_k")
	bad(asked(`"candidates": 0`), 400, "candidates")
	bad(asked(`"offset": -1`), 400, "offset")
	bad(asked(`"vector": [1, 2]`), 400, "vector")
	bad(asked(`"threshold": {"score": 2}`), 400, "threshold.score")
	bad(asked(`"filter": {"a": {"like": "x"}}`), 400, "filter.a")

	for _, text := range []string{
		"the and of", "的 了 是", "!?。，…", "🐈", "<script>alert(1)</script>", `cat" OR 1=1 --`,
		`+cat -dog && (a || b) ~2 ^4 *:* [1 TO 5] {x} \`, "-cat", `"cat`, "cat\x00mat", strings.Repeat("(", 5000),
	} {
		good(query(text))
	}
	good(asked(`"offset": 9000, "preset": "text"`))
	good(asked(`"filter": {"unknown": "x"}, "preset": "text"`))
	good(asked(`"vector": [0, 0, 0]`))
	good(asked(`"vector": [-1, 0, 0], "preset": "script_score"`))
	good(asked(`"threshold": {"vector": 0.99, "text": 99}`))
	response := r.search(search.Request{Query: "cat", KnowledgeBases: []string{"k"}, Preset: "text"})
	if want := "the &lt;b&gt;<em>cat</em>&lt;/b&gt; sat on the mat"; response.Hits[0].Highlights[0] != want {
		t.Errorf("highlight %q, want %q", response.Hits[0].Highlights[0], want)
	}
}

func TestBadChunksFailAlone(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 3}, nil)
	lines := []string{
		`{"id": "first", "content": "one"}`,
		`{"id": "broken", "content": `,
		`{"id": "no-text"}`,
		`{"id": "short", "content": "x", "vector": [1]}`,
		`{"id": "long", "content": "` + strings.Repeat("猫和狗。", 400_000) + `"}`,
		`{"id": "twice", "content": "once"}`,
		`{"id": "twice", "content": "again"}`,
		`{"id": "script", "content": "<script>alert(1)</script>"}`,
		"{\"id\": \"bytes\", \"content\": \"\xff\"}",
		`{"id": "last", "content": "end"}`,
	}
	status, text := r.ask(http.MethodPost, cli.BasePath("k")+"/documents"+queryOf("refresh", "true"), strings.Join(lines, "\n"))
	results := strings.Split(strings.TrimSpace(string(text)), "\n")
	if status != http.StatusOK || len(results) != len(lines) {
		t.Fatalf("%d with %d results", status, len(results))
	}
	for i, want := range []string{
		"created", "failed", "failed", "failed", "created", "created", "updated", "created", "failed", "created",
	} {
		if !strings.Contains(results[i], `"status":"`+want+`"`) {
			t.Errorf("line %d: %s, want %s", i+1, results[i], want)
		}
	}
	if n := r.chunks("k"); n != 5 {
		t.Errorf("%d chunks, want 5", n)
	}
	for _, body := range []string{`{"id": "Bad Id"}`, `{"id": "k"}`, `{}`, `{"id": "x", "engine": "y"}`, `[]`, `{`} {
		if status, text := r.ask(http.MethodPost, "/v1/knowledge-bases", body); status < 400 || status > 499 {
			t.Errorf("%s: %d %s; want status at least 400 and status at most 499", brief.Of(body), status, brief.Of(text))
		}
	}
}
