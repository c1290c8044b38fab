package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestADegradedAnswerIsAWarning(t *testing.T) {
	g := start(t, Options{})
	const body = `{"query": "my private question", "knowledge_bases": ["manuals"]}`
	for range 3 {
		for _, route := range []string{"/v1/search", "/v1/context"} {
			if got := g.ask("POST", route, body, asJSON); got.status != 200 {
				t.Fatalf("%s: %d %s; want got.status 200", route, got.status, brief.Of(got.body))
			}
		}
	}
	var warned []string
	for line := range strings.Lines(g.log.String()) {
		if strings.Contains(line, `"level":"WARN"`) {
			warned = append(warned, line)
		}
	}
	if len(warned) == 0 || len(warned) > 3 { // one, unless the six took over a second
		t.Fatalf("%d warnings: %v; want some warned and at most 3 warned", len(warned), warned)
	}
	for _, want := range []string{
		`"msg":"an answer is degraded"`, `"leg":"vector"`, `"knowledge_base":"kb"`, `"code":"unavailable"`,
		`"reason":"embedding service unavailable"`, `"request_id":`,
	} {
		if !strings.Contains(warned[0], want) {
			t.Errorf("%s lacks %s", warned[0], want)
		}
	}
	if strings.Contains(warned[0], "private") {
		t.Errorf(`the warning repeats what was asked: %s; want no "private" in it`, warned[0])
	}
}
