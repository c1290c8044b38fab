package searching

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search"
)

// TestNamesOfHits: with their marks, and bold to their end.
func TestNamesOfHits(t *testing.T) {
	f := func(h search.Hit, coloured bool, want string) {
		t.Helper()
		var out bytes.Buffer
		if err := newPage(&out, coloured).print(&search.Response{Hits: []search.Hit{h}}); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, want) {
			t.Errorf("%+v: %q, want %q", h, first, want)
		}
	}
	titled := search.Hit{ID: "a", Title: "Fees & refunds now", TitleHighlight: "Fees &amp; \x02refunds\x03 now"}
	f(titled, false, "Fees & **refunds** now")
	f(titled, true, "\x1b[1mFees & \x1b[33mrefunds\x1b[39m now\x1b[0m")
	f(search.Hit{ID: "a", Title: "Fees &amp; more"}, false, "Fees &amp; more")
	f(search.Hit{ID: "a"}, false, "a")
	f(search.Hit{
		ID: "a", Title: "Money", TitleHighlight: "\x02Money\x03", QuestionHighlight: "How? \x02Money\x03", QA: &engine.QA{Question: "How? Money"},
	}, false, "How? **Money**")
	f(search.Hit{ID: "a", Title: "Money", QA: &engine.QA{Question: "How?"}}, false, "How?")
}
