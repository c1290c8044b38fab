package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// dialect is a protocol of other programs: a question that it takes, and how it tells an error.
type dialect struct {
	path   string
	asked  string // the body
	where  string // of the members of a case in the body, as params.arguments; empty: the body itself
	error  string // the whole body, an expression whose group is the message
	status int    // of errors; 0: 4xx
	none   string // in an answer that found nothing
}

var dialects = map[string]dialect{
	"dify": {
		path: "/dify/retrieval", asked: `{"knowledge_id": "kb", "query": "refund order"}`,
		error: `^{"error_code":(?:4\d\d|2001),"error_msg":("[^\n]*")}\s*$`, none: `{"records":[]}`,
	},
	"ragflow": {
		path: "/api/v1/retrieval", asked: `{"dataset_ids": ["kb"], "question": "refund order"}`,
		error: `^{"code":102,"message":("[^\n]*")}\s*$`, status: http.StatusOK, none: `"chunks":[]`,
	},
	"openai": {
		path: "/v1/vector_stores/kb/search", asked: `{"query": "refund order"}`,
		error: `^{"error":{"message":("[^\n]*"),"type":"invalid_request_error","param":"[^\n]*","code":"[a-z_]+"}}\s*$`,
		none:  `"data":[]`,
	},
	"meilisearch": {
		path: "/multi-search", asked: `{"queries": [{"indexUid": "kb", "q": "refund order"}]}`, where: "queries",
		error: `^{"message":("[^\n]*"),"code":"[a-z_]+","type":"invalid_request","link":"https://[^"]+"}\s*$`, none: `"hits":[]`,
	},
	"rerank": {
		path: "/v2/rerank", asked: `{"query": "refund order", "documents": ["a", "b"]}`, error: `^{"message":("[^\n]*")}\s*$`,
	},
	"mcp": {
		path: "/mcp", where: "params",
		asked: `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
			{"name": "search", "arguments": {"query": "refund order", "min_relevance": 0}}}`,
		error:  `^{"jsonrpc":"2.0","id":1,"result":{"content":\[{"type":"text","text":("[^\n]*")}\],"isError":true}}\s*$`,
		status: http.StatusOK, none: `"results":[]`,
	},
}

// with puts members into the question.
func (d *dialect) with(t *testing.T, members map[string]any) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(d.asked), &body); err != nil {
		t.Fatal(err)
	}
	into := body
	switch d.where {
	case "queries":
		into = body["queries"].([]any)[0].(map[string]any)
	case "params":
		into = body["params"].(map[string]any)["arguments"].(map[string]any)
	}
	maps.Copy(into, members)
	text, err := json.Marshal(repeated(body))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// repeated writes {"repeat": …, "times": …} out, a text or a list that is too long for a file. It changes nothing
// of what it gets, which several tests read at a time.
func repeated(value any) any {
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = repeated(v[i])
		}
		return all
	case map[string]any:
		times, _ := v["times"].(float64)
		switch again := v["repeat"].(type) {
		case string:
			return strings.Repeat(again, int(times))
		case []any:
			return slices.Repeat(again, int(times))
		}
		all := make(map[string]any, len(v))
		for name := range v {
			all[name] = repeated(v[name])
		}
		return all
	}
	return value
}

// TestProtocolsRefuseInTheirOwnForm: what is wrong in a request is told as the program expects it, by the path
// that the caller sent, in the caller's language; never by a failure of ours. A case that wants no message is no
// mistake, and finds nothing.
func TestProtocolsRefuseInTheirOwnForm(t *testing.T) {
	text, err := os.ReadFile("testdata/refusals.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		To, Want string
		Send     map[string]any
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	onEachEngine(t, func(t *testing.T, b *bound) {
		for _, c := range cases {
			d, known := dialects[c.To]
			if !known {
				t.Fatalf("no protocol %q; want known", c.To)
			}
			body := d.with(t, c.Send)
			status, answer := b.ask("root", d.path, body, "en")
			if c.Want == "" {
				if status != http.StatusOK || !strings.Contains(answer, d.none) {
					t.Errorf("%s %.200s: %d %.300s, want nothing found", c.To, body, status, answer)
				}
				continue
			}
			if told := d.message(status, answer); !strings.Contains(told, c.Want) || len(told) > 400 {
				t.Errorf("%s %.200s: %d %.500s\nwant %s", c.To, body, status, answer, c.Want)
			}
			if c.To == "mcp" || strings.Contains(c.Want, "`") || strings.HasPrefix(c.Want, "You don't") {
				continue // those words are RAGFlow's, and a model's are English
			}
			status, answer = b.ask("root", d.path, body, "zh")
			if told := d.message(status, answer); !strings.ContainsFunc(told, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("%s %.200s: to a Chinese reader %d %.500s", c.To, body, status, answer)
			}
		}
		for name, d := range dialects {
			for _, body := range []string{``, `{`, `[1]`, `null`, `"x"`, "\xff"} {
				status, answer := b.ask("root", d.path, body, "en")
				if status >= http.StatusInternalServerError || name != "mcp" && d.none != "" && strings.Contains(answer, d.none) {
					t.Errorf("%s %q: %d %s", name, brief.Of(body), status, brief.Of(answer))
				}
			}
		}
	})
}

// ask sends a question of a protocol, by a reader of a language.
func (b *bound) ask(key, path, body, language string) (status int, answer string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", cli.AsJSON)
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Accept-Language", language)
	return b.sent(request)
}

// message is that of an error in the protocol's form; empty where the answer has another one.
func (d *dialect) message(status int, answer string) string {
	found := regexp.MustCompile(d.error).FindStringSubmatch(answer)
	if found == nil || d.status != 0 && status != d.status || d.status == 0 && status/100 != 4 {
		return ""
	}
	var message string
	if json.Unmarshal([]byte(found[1]), &message) != nil {
		return ""
	}
	return message
}
