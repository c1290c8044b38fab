package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestAReasonIsSaidOnceASecond(t *testing.T) {
	var w warnings
	begun := time.Now()
	f := func(reason string, after time.Duration, say bool, unsaid int) {
		t.Helper()
		if n, said := w.of(reason, begun.Add(after)); n != unsaid || said != say {
			t.Errorf("%s after %v: said %v, %d before; want %v, %d", reason, after, said, n, say, unsaid)
		}
	}
	f("a", 0, true, 0)
	f("a", 400*time.Millisecond, false, 0)
	f("a", 999*time.Millisecond, false, 0)
	f("b", 999*time.Millisecond, true, 0)
	f("a", time.Second, true, 2)
	f("a", 1500*time.Millisecond, false, 0)
	f("a", 4*time.Second, true, 1)
	for i := range 2 * maxWarnings {
		w.of(fmt.Sprint("reason ", i), begun.Add(5*time.Second))
	}
	if n := len(w.last); n > maxWarnings {
		t.Errorf("%d reasons are remembered; want n at most maxWarnings", n)
	}
	f("another", 5*time.Second, false, 0)
	f("another", 6*time.Second, true, 0)
	if n := len(w.last); n != 1 {
		t.Errorf("%d reasons are remembered after their second; want n 1", n)
	}
}
