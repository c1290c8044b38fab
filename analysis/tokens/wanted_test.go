package tokens

import (
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"pgregory.net/rapid"
)

// TestSelect: the wanted of all tokens, neighbours where they were neighbours.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := anyText().Draw(rt, "text") + anyText().Draw(rt, "more")
		all := shared.Tokens(text)
		known := append(texts(all), "退款", "refund", "共和国", "b超", "")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 0, 4).Draw(rt, "wanted")
		keep := func(term string) bool { return slices.Contains(parts, term) }
		all = slices.DeleteFunc(all, func(t analysis.Token) bool { return !keep(t.Text) })
		checkSelected(rt, shared.Selector(parts, keep)(nil, text), all)
		checkSelected(rt, shared.Selector(parts, nil)(nil, text), all)
	})
}

// TestStemsBeginAsTheirWords is what a Selector relies on.
func TestStemsBeginAsTheirWords(t *testing.T) {
	f := func(t failer, word string) {
		if !shared.newWanted([]string{stem(word)}, nil).mayBeginWord(word[0], word[1:]) {
			t.Fatalf("%q is passed over, its stem is %q", word, stem(word))
		}
	}
	for _, word := range []string{"dying", "lying", "tying", "skies", "aing", "by", "ugly", "a's"} {
		f(t, word)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f(rt, rapid.StringMatching(`[a-z]{1,4}(ing|ed|ied|ies|y|s|'s|ly|ingly|eed)?`).Draw(rt, "word"))
	})
}

func checkSelected(t failer, got, want []analysis.Token) {
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range got {
		place := got[i]
		place.Position = want[i].Position
		if place != want[i] {
			t.Fatalf("got %+v, want %+v", got[i], want[i])
		}
		if i == 0 {
			continue
		}
		step, wantStep := got[i].Position-got[i-1].Position, want[i].Position-want[i-1].Position
		if step < 1 || (step == 1) != (wantStep == 1) {
			t.Fatalf("%+v is %d behind the token before it, was %d", got[i], step, wantStep)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	text := strings.Repeat("用户如何在系统中申请退款？请先登录账户，然后在订单页面点击“申请售后”，等待商家审核。", 15)
	selected := shared.Selector([]string{"申请", "退款"}, nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		selected(nil, text)
	}
}
