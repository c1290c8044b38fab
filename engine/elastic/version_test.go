package elastic_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// What a newer version stored is read while it only added, and else neither read nor written.
func TestVersionsOfTheStore(t *testing.T) {
	e, prefix := open(t)
	kb := manuals()
	chunk := engine.Chunk{ID: "a", DocumentID: "d", Content: "x", Available: true}
	create(t, e, kb, chunk)
	path := devservices.Elasticsearch(t) + "/" + prefix + "-catalog/_mapping"
	ask := func(method, body string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s %v; want no error and response.StatusCode StatusOK", method, path, response.StatusCode, brief.Of(text), err)
		}
		return string(text)
	}
	if text := ask("GET", ""); !strings.Contains(text, `"schema":1,"min_reader":1`) {
		t.Errorf("a new store: %s; want `\"schema\":1,\"min_reader\":1` in it", text)
	}
	other := manuals()
	other.ID = "other"
	uses := map[string]func(fresh engine.Engine) error{
		"list":   func(e engine.Engine) error { _, err := e.KnowledgeBases(t.Context()); return err },
		"delete": func(e engine.Engine) error { return e.DeleteKnowledgeBase(t.Context(), other.Ref) },
		"create": func(e engine.Engine) error { return e.CreateKnowledgeBase(t.Context(), other) },
		"write": func(e engine.Engine) error {
			_, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}})
			return err
		},
		"read": func(e engine.Engine) error { _, err := e.Describe(t.Context(), kb); return err },
	}
	f := func(meta, stays string, readable bool) {
		t.Helper()
		ask("PUT", fmt.Sprintf(`{"_meta": {%s}}`, meta))
		for _, name := range []string{"list", "create", "write", "read", "delete"} {
			err := uses[name](another(t, prefix, 1))
			if readable && err != nil {
				t.Errorf("%s with %s: %v; want not readable or no error", name, meta, err)
			}
			if !readable && (!fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), prefix+"-catalog was written by a "+
				"newer version: its schema is 9, which programs of schema 9 and above can use, and that of this one is 1")) {
				t.Errorf("%s with %s: %v", name, meta, err)
			}
		}
		if text := ask("GET", ""); !strings.Contains(text, stays) {
			t.Errorf("%s became %s", meta, text)
		}
	}
	f(`"schema": 9, "min_reader": 9`, `"schema":9,"min_reader":9`, false)
	f(`"schema": 9, "min_reader": 1`, `"schema":9,"min_reader":1`, true)
	f("", `"schema":1,"min_reader":1`, true) // from before there were versions
}
