package elastic_test

import (
	"encoding/json"
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
	url := server + "/" + prefix + "-asked"
	ask(t, http.MethodPut, url, string(body))
	var live map[string]json.RawMessage
	if err := json.Unmarshal(ask(t, http.MethodGet, url, ""), &live); err != nil {
		t.Fatal(err)
	}
	var made mappings.Index
	if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	for _, index := range live {
		if d, err := mappings.Diff(made, index); err != nil || len(d.Changes) > 0 {
			t.Errorf("%+v, %v; want no error and len(d.Changes) 0", d, err)
		}
	}
	ask(t, http.MethodPut, url+"/_doc/a?refresh=true", `{"text_text": "to-morrow"}`)
	var found struct {
		Hits struct {
			Hits []json.RawMessage `json:"hits"`
		} `json:"hits"`
	}
	for query, want := range map[string]int{"to-morrow": 0, "to morrow": 1} { // as one word, and as two
		search := `{"query": {"match": {"text_text": {"query": "` + query + `", "operator": "and"}}}}`
		if err := json.Unmarshal(ask(t, http.MethodPost, url+"/_search", search), &found); err != nil || len(found.Hits.Hits) != want {
			t.Errorf("%s: %d hits, want %d (%v)", query, len(found.Hits.Hits), want, err)
		}
	}
}
