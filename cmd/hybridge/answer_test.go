package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A question is answered from the texts by the configured model; one that they do not answer is not.
func TestAnswerWithCitations(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		_, err := fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Within a week [1]. By card.\"}}]}\n\ndata: [DONE]\n\n")
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	settings := settingsIn(t.TempDir())
	settings.Answer.URL, settings.Answer.Model, settings.Answer.APIKey = server.URL, "scripted", "sk-1"
	r := run(t, settings)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, basePath("shop")+"/documents?refresh=true", shopTexts, nil)
	f := func(query string, want ...string) {
		t.Helper()
		status, body := r.ask(http.MethodPost, "/v1/answer", `{"query": "`+query+`", "knowledge_bases": ["shop"], "preset": "text"}`)
		for _, w := range want {
			if status != http.StatusOK || !strings.Contains(string(body), w) || strings.Contains(string(body), "sk-1") {
				t.Errorf("%s: %d %s, want %s", query, status, body, w)
			}
		}
	}
	f("when is a refund paid back within a week", `"source":"refunds"`, `{"text":"Within a week. ","citations":[1],"cited":true}`,
		`{"text":"By card.","citations":[],"cited":false}`, "event: done\n")
	if key := <-asked; key != "Bearer sk-1" {
		t.Errorf("the key was %q", key)
	}
	f("zebra", `"sources":[]`, "event: unknown\n", "I don't know", `{"sentences":0,`)
	if len(asked) > 0 {
		t.Error("the model was asked what nothing answers")
	}
	without := run(t, settingsIn(t.TempDir()))
	status, body := without.ask(http.MethodPost, "/v1/answer", `{"query": "a", "knowledge_bases": ["shop"]}`)
	if status != http.StatusBadRequest || !strings.Contains(string(body), `"field":"answer.url"`) {
		t.Errorf("without a model: %d %s", status, body)
	}
}
