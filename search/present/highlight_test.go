package present

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/highlight"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/textquery"
)

// inWords has what stands between spaces for tokens.
type inWords struct{}

func (inWords) Selector([]string, func(string) bool) analysis.Selector { return appendWords }

func appendWords(all []analysis.Token, text string) []analysis.Token {
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		all = append(all, analysis.Token{
			Text: word, Start: at, End: at + len(word), RuneStart: at, RuneEnd: at + len(word), Position: len(all),
		})
		at += len(word)
	}
	return all
}

// TestLargePageIsMarkedTheSame: on all processors, and each hit with the matcher of
// its answer, whatever part of it answers.
func TestLargePageIsMarkedTheSame(t *testing.T) {
	query := textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: 1}}}
	other := textquery.Query{Terms: []textquery.Term{{Text: "order", Weight: 1}}}
	m := &marker{
		wanted: true,
		matchers: []*highlight.Matcher{
			highlight.NewMatcher(&analysis.Query{}, query, inWords{}), highlight.NewMatcher(&analysis.Query{}, other, inWords{}),
		},
	}
	f := func(padding string, large bool) {
		t.Helper()
		hits, sources := make([]answer.Hit, 9), make([]int, 9)
		for i := range hits {
			hits[i].Content = fmt.Sprintf("a refund of order %d ", i) + padding
			sources[i] = i % 2
		}
		hits[4].QA = &engine.QA{Answer: "no refund"}
		hits[5].Content = ""
		if size := len(hits) * len(hits[0].Content); (size > largePage) != large {
			t.Fatalf("a page of %d bytes", size)
		}
		_ = m.mark(t.Context(), hits, sources, &answer.Allowance{})
		for i := range hits {
			want := hits[i]
			if matched := m.markHit(sources[i], &want); !reflect.DeepEqual(hits[i], want) || m.matched[i] != matched {
				t.Errorf("hit %d: %t %+v, want %t %+v", i, m.matched[i], hits[i], matched, want)
			}
		}
		if got := hits[4].Highlights; !reflect.DeepEqual(got, []string{"no <em>refund</em>"}) {
			t.Errorf(`a pair: %q; want {"no <em>refund</em>"}`, got)
		}
		if got := hits[1].Highlights[0]; !strings.HasPrefix(got, "a refund of <em>order</em> 1") {
			t.Errorf(`the second answer: %q; want one that begins with "a refund of <em>order</em> 1"`, got)
		}
	}
	f("", false)
	f(strings.Repeat("word ", largePage/40), true)
}
