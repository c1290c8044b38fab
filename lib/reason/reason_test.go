package reason_test

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/lib/reason"
)

func TestReasonsAreShownWithoutSecretsAndAddresses(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := reason.Shown(text, "hunter2"); got != want {
			t.Errorf("%q is shown as %q; want %q", text, got, want)
		}
	}
	f("Result window is too large, from + size must be less than or equal to: [5] but was [200].",
		"Result window is too large, from + size must be less than or equal to: [5] but was [200].")
	f("pipeline with id [x] does not exist", "pipeline with id [x] does not exist")
	f("[1:23] [bool] failed to parse field [must]", "[1:23] [bool] failed to parse field [must]")
	f("[node-1][10.1.2.3:9300][indices:data/read/search]", "[node-1][[address]][indices:data/read/search]")
	f("connect to localhost:9200 and es-1.example.org:9300", "connect to [address] and [address]")
	f("tried [::1]:9200, [fe80::1:2]", "tried [address], [address]")
	f("GET https://anna:pass@es.example.org/x?y failed", "GET [url] failed")
	f("see https://example.org/limits", "see https://example.org/limits")
	f("Authorization: Bearer abc.def-ghi was refused", "Authorization: Bearer [secret] was refused")
	f("Incorrect API key provided: sk-abcd****wxyz.", "Incorrect API key provided: [secret].")
	f("password=letmein and api_key = 'x1y2'", "password=[secret] and api_key = [secret]")
	f(`{"token": "abc"}`, `{"token": [secret]}`)
	f("unexpected token: end of input", "unexpected token: end of input")
	f("the word hunter2 is hidden", "the word [secret] is hidden")
	f("two\n lines\tand \xff bytes", "two lines and bytes")
	f(strings.Repeat("字", reason.Most+1), strings.Repeat("字", reason.Most)+"…")
}

func TestTheMessageOfABody(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := reason.OfBody([]byte(body)); got != want {
			t.Errorf("%s says %q; want %q", brief.Of(body), got, want)
		}
	}
	f(`{"error": {"message": "too long", "type": "x"}}`, "too long")
	f(`{"error": "model not found", "error_type": "x"}`, "model not found")
	f(`{"object": "error", "message": "too long", "code": 400}`, "too long")
	f(`{"detail": "Not Found"}`, "Not Found")
	f(`{"detail": [{"msg": "x"}]}`, `{"detail": [{"msg": "x"}]}`)
	f("overloaded\n", "overloaded")
	f("<html><body>502</body></html>", "")
	f("", "")
}
