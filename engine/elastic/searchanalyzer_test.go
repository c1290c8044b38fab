package elastic_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/mappings"
)

// TestQuestionsAreAnalysedAnotherWay: the server takes such an index, says the same of it, and
// analyses a question by the second analyzer. The IK tokenizers are a plugin's, so two of the
// server's own stand for them.
func TestQuestionsAreAnalysedAnotherWay(t *testing.T) {
	t.Parallel()
	server, prefix := devservices.Indices(t)
	index, err := mappings.Desired(&engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks,
		Analyzer: mappings.AnalyzerIKMax, SearchAnalyzer: mappings.AnalyzerIKSmart,
	}, "words/1")
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	body = []byte(strings.NewReplacer(`"tokenizer":"ik_max_word"`, `"tokenizer":"standard"`, `"tokenizer":"ik_smart"`, `"tokenizer":"whitespace"`).Replace(string(body)))
	ask := func(method, path string, body []byte) []byte {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server+"/"+prefix+"-asked"+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		answer, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %s %v", method, path, res.Status, answer, err)
		}
		return answer
	}
	ask(http.MethodPut, "", body)
	var live map[string]json.RawMessage
	if err := json.Unmarshal(ask(http.MethodGet, "", nil), &live); err != nil {
		t.Fatal(err)
	}
	var made mappings.Index
	if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	for _, index := range live {
		if d, err := mappings.Diff(made, index); err != nil || len(d.Changes) > 0 {
			t.Errorf("%+v, %v", d, err)
		}
	}
	ask(http.MethodPut, "/_doc/a?refresh=true", []byte(`{"text_text": "to-morrow"}`))
	var found struct {
		Hits struct {
			Hits []json.RawMessage `json:"hits"`
		} `json:"hits"`
	}
	for query, want := range map[string]int{"to-morrow": 0, "to morrow": 1} { // as one word, and as two
		search := `{"query": {"match": {"text_text": {"query": "` + query + `", "operator": "and"}}}}`
		if err := json.Unmarshal(ask(http.MethodPost, "/_search", []byte(search)), &found); err != nil || len(found.Hits.Hits) != want {
			t.Errorf("%s: %d hits, want %d (%v)", query, len(found.Hits.Hits), want, err)
		}
	}
}
