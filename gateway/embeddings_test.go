package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestEmbeddings(t *testing.T) {
	g := start(t, Options{})
	f := func(body string, status int, want string) {
		t.Helper()
		got := g.ask("POST", "/v1/embeddings", body, asJSON)
		as := strings.TrimSpace(got.body) == want
		if status != 200 {
			as = strings.Contains(got.body, want)
		}
		if got.status != status || !as {
			t.Errorf("%.80s: %d %s, want %d %s", body, got.status, brief.Of(got.body), status, want)
		}
	}
	answer := func(data string) string {
		return `{"object":"list","model":"lengths","data":[` + data + `],"usage":{"prompt_tokens":0,"total_tokens":0}}`
	}
	f(`{"input": "abc"}`, 200, answer(`{"object":"embedding","index":0,"embedding":[3,0.5]}`))
	f(`{"input": ["a", "中"], "model": "lengths", "user": "u"}`, 200,
		answer(`{"object":"embedding","index":0,"embedding":[1,0.5]},{"object":"embedding","index":1,"embedding":[3,0.5]}`))
	f(`{"input": "abc", "encoding_format": "base64", "dimensions": 2}`, 200, answer(`{"object":"embedding","index":0,"embedding":"AABAQAAAAD8="}`))
	f(`{"input": "abc", "dimensions": 3}`, 400, `"param":"dimensions"`)
	f(`{"input": "abc", "encoding_format": "hex"}`, 400, `"param":"encoding_format"`)
	f(`{"input": "abc", "model": "x"}`, 400, `model is \"x\"; it must be one of lengths`)
	f(`{"input": [1, 2]}`, 400, `"param":"input"`)
	f(`{"input": []}`, 400, `"param":"input"`)
	f(`{"input": [" "]}`, 400, `"param":"input"`)
	f(`{}`, 400, `"param":"input"`)
	f(`{"input": ["`+strings.Repeat(`a", "`, 2048)+`"]}`, 400, `1 to 2048 texts`)
	g = start(t, Options{}, func(_ *fakes, options *Options) { options.Embedder = nil })
	f(`{"input": "abc"}`, 400, `this gateway has no embedding model`)
}
