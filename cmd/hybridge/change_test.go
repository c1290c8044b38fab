package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// count is the number that a member of an answer has.
func (b *bound) count(text, member string) int {
	b.t.Helper()
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	n, ok := answer[member].(float64)
	if !ok {
		b.t.Fatalf("%s has no %s; want ok", text, member)
	}
	return int(n)
}

func TestDeleteByFilterOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		f := func(key, filter string, dry bool, want int) {
			t.Helper()
			body := fmt.Sprintf(`{"filter": %s, "dry_run": %t}`, filter, dry)
			if got := b.count(b.as(key, http.MethodPost, cli.BasePath("kb")+"/delete", body, http.StatusOK), "deleted"); got != want {
				t.Errorf("%s %s: %d chunks, want %d", key, brief.Of(body), got, want)
			}
		}
		f("root", `{"mood": "m"}`, true, 30)
		f("root", `{"mood": "m"}`, true, 30) // nothing was deleted
		f("anna", `{"team": "red"}`, true, 30)
		f("anna", `{"document_id": "berts"}`, false, 0)
		f("root", `{"document_id": "berts"}`, true, 30)
		f("root", `{"mood": {"ends_with": "secret"}}`, false, 30)
		f("root", `{"mood": {"ends_with": "secret"}}`, true, 0)
		f("root", `{"nowhere": "x"}`, false, 0)
		f("root", `{"any_of": [{"document_id": "berts"}, {"mood": "m"}]}`, false, 60)
		if r := b.search("root", map[string]any{"query": "refund order"}); len(r.Hits) > 0 {
			t.Errorf("%d hits are left; want len(r.Hits) 0", len(r.Hits))
		}
		for _, body := range []string{`{}`, `{"filter": {}}`, `{"filter": {"a": {"like": "x"}}}`, `{"filter": {"any_of": []}}`} {
			b.as("root", http.MethodPost, cli.BasePath("kb")+"/delete", body, http.StatusBadRequest)
		}
		b.as("root", http.MethodPost, cli.BasePath("nothing")+"/delete", `{"filter": {"a": "x"}}`, http.StatusNotFound)
	})
}

func TestPatchMetadataOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		vectors := func() string {
			text := b.as("root", http.MethodGet, cli.BasePath("v")+"/chunks?vectors=true", "", http.StatusOK)
			var line struct {
				Vector []float64 `json:"vector"`
			}
			if err := json.Unmarshal([]byte(strings.SplitN(text, "\n", 2)[0]), &line); err != nil || len(line.Vector) != 3 {
				t.Fatalf("%s: %v; want no error and 3 line.Vector", text, err)
			}
			return fmt.Sprint(line.Vector)
		}
		b.as("root", http.MethodPost, "/v1/knowledge-bases", `{"id": "v", "dimensions": 3}`, http.StatusCreated)
		b.as("root", http.MethodPost, cli.BasePath("v")+"/documents?refresh=true",
			`{"id": "c", "document_id": "d", "content": "A refund.", "vector": [0.1, 0.7, 0.2], "metadata": {"year": 2024, "a": {"b": 1, "c": 2}}}`,
			http.StatusOK)
		before := vectors()
		patch := func(key, kb, document, members string, status int) string {
			t.Helper()
			got, text := b.send(key, http.MethodPatch, cli.BasePath(kb)+"/documents/"+document+"?refresh=true", cli.AsJSON, `{"metadata": `+members+`}`)
			if got != status {
				t.Errorf("%s %s: %d %s, want %d", key, members, got, text, status)
			}
			return text
		}
		patch("root", "v", "d", `{"year": 2025, "a.b": null, "tags": ["x", "y"]}`, http.StatusOK)
		chunk := b.as("root", http.MethodGet, cli.BasePath("v")+"/chunks/c", "", http.StatusOK)
		for _, want := range []string{`"year":2025`, `"a.c":2`, `"tags":["x","y"]`, `"language":"en"`} {
			if !strings.Contains(chunk, want) {
				t.Errorf("%s lacks %s", chunk, want)
			}
		}
		if strings.Contains(chunk, `"a.b"`) {
			t.Errorf("%s still has a.b; want no `\"a.b\"` in it", chunk)
		}
		if after := vectors(); after != before {
			t.Errorf("the vector was %s and is %s", before, after)
		}
		if n := b.count(patch("root", "kb", "both", `{"mood": "new"}`, http.StatusOK), "chunks"); n != 60 {
			t.Errorf("%d chunks were changed; want n 60", n)
		}
		if r := b.search("root", map[string]any{"query": "refund order", "top_k": 100, "filter": map[string]any{"mood": "new"}}); len(r.Hits) != 60 {
			t.Errorf("%d hits have what was set; want 60 r.Hits", len(r.Hits))
		}
		if n := b.count(patch("anna", "kb", "both", `{"mood": "hers"}`, http.StatusOK), "chunks"); n != 30 {
			t.Errorf("anna changed %d chunks; want n 30", n)
		}
		patch("anna", "kb", "both", `{"team": "blue"}`, http.StatusForbidden)
		patch("anna", "kb", "berts", `{"mood": "x"}`, http.StatusNotFound)
		patch("root", "kb", "nothing", `{"mood": "x"}`, http.StatusNotFound)
		for _, bad := range []string{`{}`, `null`, `5`, `{"": 1}`, `{"a": [[1]]}`, `{"source_hash": null}`} {
			patch("root", "kb", "both", bad, http.StatusBadRequest)
		}
	})
}
