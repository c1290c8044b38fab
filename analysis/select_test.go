package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestIdeograph: all that the short ways for ideographs rely on.
func TestIdeograph(t *testing.T) {
	f := shared.folding
	var empty folded
	for r := rune(firstIdeograph); r <= lastIdeograph; r++ {
		s := string(r)
		if ideograph("x"+s, 1) != r || ideograph(s[:2], 0) != 0 || f.joins(s, 0) {
			t.Fatalf("%q is not seen, or joins", r)
		}
		to := f.table[r]
		if f.class(r) != han || f.class(to) != han || glance(to) != f.glance(r) ||
			utf8.RuneLen(to) != ideographBytes && to < firstLonger {
			t.Fatalf("%q becomes %q", r, to)
		}
		text := "退款" + s + s + "申"
		whole, bare := f.fold(text, empty, true), "退款"+string(to)+string(to)+"申"
		place := locator{spans: whole.spans}
		if end := len(whole.text); whole.text != bare || place.start(end-ideographBytes) != len(text)-ideographBytes {
			t.Fatalf("%q folds to %q, want %q, the end is at %d", text, whole.text, bare, place.start(end-1))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.SliceOf(rapid.ByteRange(0x80, 0xef)), func(b []byte) string { return string(b) })).Draw(rt, "text")
		for i := range len(s) + 1 {
			r, _ := utf8.DecodeRuneInString(s[i:])
			if r < firstIdeograph || r > lastIdeograph {
				r = 0
			}
			if got := ideograph(s, i); got != r {
				rt.Fatalf("%q at %d: %q, want %q", s, i, got, r)
			}
		}
	})
}

// suffixes are those that the stemmer takes off or changes.
var suffixes = []string{
	"s", "es", "ies", "ied", "ed", "ing", "eed", "eedly", "edly", "ingly", "y", "ly", "li", "bli", "biliti", "bility", "iviti",
	"ivity", "ivities", "ational", "tional", "enci", "ency", "anci", "ancy", "izer", "ization", "ation", "ator", "alism", "aliti",
	"ality", "fulness", "ousli", "ously", "ousness", "iveness", "logi", "logy", "fulli", "fully", "lessli", "alize", "icate",
	"iciti", "ical", "ative", "ness", "ement", "ment", "ent", "able", "ible", "sion", "tion", "'s", "s'", "e", "l", "ll", "ying",
}

// TestBeginnings: every word is seen to begin as its stem may, whatever its case and
// whatever is behind it.
func TestBeginnings(t *testing.T) {
	f := func(t failer, word, behind string) {
		var b beginnings
		b.add(stem(word))
		for _, written := range []string{word, strings.ToUpper(word[:1]) + word[1:], strings.ToUpper(word)} {
			if !b.match(written[0], (written + behind)[1:]) {
				t.Fatalf("%q is passed over, its stem is %q", written+behind, stem(word))
			}
		}
	}
	for _, text := range realTexts(t, 40) {
		for _, word := range strings.FieldsFunc(shared.Fold(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			f(t, word, "")
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,5}`).Draw(rt, "word") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(suffixes), 0, 3).Draw(rt, "suffixes"), "")
		f(rt, word, rapid.SampledFrom([]string{"", " ", ".", "、", "。a", "é", "'", "Ａ"}).Draw(rt, "behind"))
	})
}

// TestSelectOfRealTexts: the wanted of all tokens, in mixtures of real texts.
func TestSelectOfRealTexts(t *testing.T) {
	all := realTexts(t, 60)
	rapid.Check(t, func(rt *rapid.T) {
		var text string
		for range rapid.IntRange(1, 6).Draw(rt, "pieces") {
			from := rapid.SampledFrom(all).Draw(rt, "from")
			start := rapid.IntRange(0, len(from)).Draw(rt, "start") // also within a rune
			text += from[start:min(len(from), start+rapid.IntRange(0, 400).Draw(rt, "length"))]
			text += anyText().Draw(rt, "odd")
		}
		tokens := shared.Tokens(text)
		if len(tokens) == 0 {
			return
		}
		parts := texts(rapid.SliceOfN(rapid.SampledFrom(tokens), 1, 6).Draw(rt, "wanted"))
		wanted := func(term string) bool { return slices.Contains(parts, term) }
		tokens = slices.DeleteFunc(tokens, func(t Token) bool { return !wanted(t.Text) })
		checkSelected(rt, shared.Select(text, NewWanted(parts, wanted)), tokens)
		checkSelected(rt, shared.Select(text, NewWanted(parts, nil)), tokens)
	})
}

// TestQuestionsAreCutAsChunks: the lexicon cuts the ones, gojieba the others.
func TestQuestionsAreCutAsChunks(t *testing.T) {
	f := func(t failer, text string) {
		if got, want := shared.ParsePlain(text).Tokens, shared.Tokens(text); !slices.Equal(got, want) {
			t.Fatalf("%q: asked for as %+v, indexed as %+v", text, got, want)
		}
	}
	for _, text := range realTexts(t, 60) {
		f(t, text)
	}
	rapid.Check(t, func(rt *rapid.T) { f(rt, rapid.OneOf(anyHan(), anyText()).Draw(rt, "text")) })
}

// TestSelectOfHan: of stretches of ideographs only what is around a wanted word is cut,
// also where words of the user, or of the model, overlap.
func TestSelectOfHan(t *testing.T) {
	own, err := New(Options{UserDictionary: write(t, "款 9000000 n\n发\n人民共 1 n\n工会 2000000000\n申请人民 n\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	const few = "退款申请人民工会发现款项目的"
	text := rapid.OneOf(anyHan(), rapid.StringOfN(rapid.RuneFrom([]rune(few)), 1, 40, -1))
	rapid.Check(t, func(rt *rapid.T) {
		a, drawn := rapid.SampledFrom([]*Analyzer{shared, own}).Draw(rt, "analyzer"), text.Draw(rt, "text")
		tokens := a.Tokens(drawn)
		known := append(texts(tokens), "款", "申请", "民工", "发", "会发", "项目的")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 1, 3).Draw(rt, "wanted")
		tokens = slices.DeleteFunc(tokens, func(t Token) bool { return !slices.Contains(parts, t.Text) })
		checkSelected(rt, a.Select(drawn, NewWanted(parts, nil)), tokens)
	})
}

// TestSelectOfMixedRuns: ideographs with ASCII among them are cut run by run, unless words of
// the dictionary or of the user have both.
func TestSelectOfMixedRuns(t *testing.T) {
	own, err := New(Options{UserDictionary: write(t, "4s店\nab\nabcd\nc级 9000000\n款x款\n2发 n\nb.c 5\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"退", "款", "後", "發", "级", "店", "申请", "退款申請", "共和国", "0", "4", "2.5", "1994", ".", "b", "x", "C", "abcd", "B超", "T恤",
		"4S店", "Node.js", "v2.", "bC", "abcdefghijklmnopqrstuvwxyz0123456789", "'", "+", "#", "é", "５", "℃", "㐀", "，", "\u0301",
	}), 1, 14), func(all []string) string { return strings.Join(all, "") })
	rapid.Check(t, func(rt *rapid.T) {
		a, drawn := rapid.SampledFrom([]*Analyzer{shared, own}).Draw(rt, "analyzer"), text.Draw(rt, "text")
		tokens := a.Tokens(drawn)
		known := append(texts(tokens), "款", "申请", "4", "b")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 1, 4).Draw(rt, "wanted")
		tokens = slices.DeleteFunc(tokens, func(t Token) bool { return !slices.Contains(parts, t.Text) })
		checkSelected(rt, a.Select(drawn, NewWanted(parts, nil)), tokens)
	})
}

// TestFirstsKnowVariants: every ideograph is seen that folds to the first of a part.
func TestFirstsKnowVariants(t *testing.T) {
	for r := rune(firstIdeograph); r <= lastIdeograph; r++ {
		var f firsts
		if f.add(shared.folding.table[r]); !f.may(r) || !f.may(shared.folding.table[r]) {
			t.Fatalf("%q is not seen, which folds to %q", r, shared.folding.table[r])
		}
	}
}

// TestAppendSelected adds to what is there and leaves that as it is.
func TestAppendSelected(t *testing.T) {
	w := NewWanted([]string{"退款", "node"}, nil)
	before := shared.Select("退款", w)
	got := shared.AppendSelected(slices.Clone(before), "Node.js 如何退款", w)
	if want := slices.Concat(before, shared.Select("Node.js 如何退款", w)); len(got) != 3 || !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestParts: every one that is a term, as often as it was given.
func TestParts(t *testing.T) {
	w := NewWanted([]string{"b", "款", "", "b", "退款", "bc", "款", "举", "\"b"}, nil) // 款 and 举, b and " share a bucket
	f := func(term string, want ...int) {
		t.Helper()
		var got []int
		for _, p := range w.Parts(term) {
			got = append(got, p.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", term, got, want)
		}
	}
	f("b", 0, 3)
	f("bc", 5)
	f("款", 1, 6)
	f("退款", 4)
	f("举", 7)
	f("\"b", 8)
	f("c")
	f("")
}
