package analysis

import (
	"slices"
	"strings"
	"testing"

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
		all = slices.DeleteFunc(all, func(t Token) bool { return !keep(t.Text) })
		checkSelected(rt, shared.Select(text, NewWanted(parts, keep)), all)
		checkSelected(rt, shared.Select(text, NewWanted(parts, nil)), all)
	})
}

// TestNumbersOfParts: a term has the numbers of its parts, as often as they were given.
func TestNumbersOfParts(t *testing.T) {
	known := []string{"", "a", "ab", "abc", "退款", "退", "b超", "T", "\xff", "é", "\U00020000", "!", "\x00"}
	rapid.Check(t, func(rt *rapid.T) {
		one := rapid.OneOf(rapid.SampledFrom(known), rapid.StringN(1, 3, -1))
		parts := rapid.SliceOfN(one, 0, 40).Draw(rt, "parts")
		w := NewWanted(parts, nil)
		for _, term := range append(parts, known...) {
			var want, got []int
			for n, p := range parts {
				if p == term && p != "" {
					want = append(want, n)
				}
			}
			for _, p := range w.Parts(term) {
				got = append(got, p.Number)
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("%q has the parts %v of %q, want %v", term, got, parts, want)
			}
		}
	})
}

// TestStemsBeginAsTheirWords is what Wanted relies on.
func TestStemsBeginAsTheirWords(t *testing.T) {
	f := func(t failer, word string) {
		if !NewWanted([]string{stem(word)}, nil).beginsWord(shared.folding, word[0], word[1:]) {
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

func checkSelected(t failer, got, want []Token) {
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
	wanted := []string{"申请", "退款"}
	w := NewWanted(wanted, nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		shared.Select(text, w)
	}
}
