package tokens

import (
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/internal/realtext"
	"pgregory.net/rapid"
)

const dataFolder = "../../../shared/data"

// suffixes are those that the stemmer takes off or changes.
var suffixes = []string{
	"s", "es", "ies", "ied", "ed", "ing", "eed", "eedly", "edly", "ingly", "y", "ly", "li", "bli", "biliti", "bility", "iviti",
	"ivity", "ivities", "ational", "tional", "enci", "ency", "anci", "ancy", "izer", "ization", "ation", "ator", "alism", "aliti",
	"ality", "fulness", "ousli", "ously", "ousness", "iveness", "logi", "logy", "fulli", "fully", "lessli", "alize", "icate",
	"iciti", "ical", "ative", "ness", "ement", "ment", "ent", "able", "ible", "sion", "tion", "'s", "s'", "e", "l", "ll", "ying",
}

// TestPrefixFilter: every word has a prefix that its stem allows, whatever its case and
// whatever follows it.
func TestPrefixFilter(t *testing.T) {
	f := func(t failer, word, behind string) {
		var prefixes prefixFilter
		prefixes.add(stem(word))
		for _, written := range []string{word, strings.ToUpper(word[:1]) + word[1:], strings.ToUpper(word)} {
			if !prefixes.match(written[0], (written + behind)[1:]) {
				t.Fatalf("%q is passed over, its stem is %q", written+behind, stem(word))
			}
		}
	}
	for _, text := range realtext.Every(t, 40, dataFolder) {
		for _, word := range strings.FieldsFunc(shared.folding.String(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
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
	all := realtext.Every(t, 60, dataFolder)
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
		tokens = slices.DeleteFunc(tokens, func(t analysis.Token) bool { return !wanted(t.Text) })
		checkSelected(rt, shared.Selector(parts, wanted)(nil, text), tokens)
		checkSelected(rt, shared.Selector(parts, nil)(nil, text), tokens)
	})
}

// TestSelectedAreAppended: what is there stays as it is.
func TestSelectedAreAppended(t *testing.T) {
	selected := shared.Selector([]string{"退款", "node"}, nil)
	before := selected(nil, "退款")
	got := selected(slices.Clone(before), "Node.js 如何退款")
	if want := slices.Concat(before, selected(nil, "Node.js 如何退款")); len(got) != 3 || !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSelectedHaveTheirSigns: C# is not passed over for its C.
func TestSelectedHaveTheirSigns(t *testing.T) {
	const text = "C, C++ and C# in node.js: user's"
	for _, word := range []string{"c", "c++", "c#", "node", "js", "user"} {
		got := shared.Selector([]string{word}, nil)(nil, text)
		if want := slices.DeleteFunc(shared.Tokens(text), func(t analysis.Token) bool { return t.Text != word }); len(got) != 1 ||
			len(want) != 1 || got[0].Start != want[0].Start || got[0].End != want[0].End {
			t.Errorf("%s: %+v, want %+v", word, got, want)
		}
	}
}

// TestSelectOfPairs: kana and hangul with whatever may stand at them.
func TestSelectOfPairs(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"날", "씨", "는", "날씨", "ㄴ", "\u1102", "\u1161", "\u11af", "\u302e", "か", "が", "\u3099", "ー", "ｰ", "ｶ", "ﾞ", "コ", "食", "退款", "ภ",
		"\u0e31", "a", "API", "3", ".", " ", "。", "、", "\u200d", "\u0301", "\xea",
	}), 1, 20), func(all []string) string { return strings.Join(all, "") })
	rapid.Check(t, func(rt *rapid.T) {
		drawn := text.Draw(rt, "text")
		tokens := shared.Tokens(drawn)
		checkTokens(rt, drawn)
		known := append(texts(tokens), "날씨", "씨는", "か", "ー", "コー")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 1, 4).Draw(rt, "wanted")
		tokens = slices.DeleteFunc(tokens, func(t analysis.Token) bool { return !slices.Contains(parts, t.Text) })
		checkSelected(rt, shared.Selector(parts, nil)(nil, drawn), tokens)
	})
}

// TestQuestionsAreCutAsChunks: the lexicon cuts the ones, gojieba the others.
func TestQuestionsAreCutAsChunks(t *testing.T) {
	f := func(t failer, text string) {
		if got, want := shared.ParsePlain(text).Tokens, shared.Tokens(text); !slices.Equal(got, want) {
			t.Fatalf("%q: asked for as %+v, indexed as %+v", text, got, want)
		}
	}
	for _, text := range realtext.Every(t, 60, dataFolder) {
		f(t, text)
	}
	rapid.Check(t, func(rt *rapid.T) { f(rt, rapid.OneOf(realtext.AnyHan(), anyText()).Draw(rt, "text")) })
}

// TestSelectOfHan: of stretches of ideographs only what is around a wanted word is cut,
// also where words of the user, or of the model, overlap.
func TestSelectOfHan(t *testing.T) {
	own := newAnalyzer(write(t, "款 9000000 n\n发\n人民共 1 n\n工会 2000000000\n申请人民 n\n"))
	const few = "退款申请人民工会发现款项目的"
	text := rapid.OneOf(realtext.AnyHan(), rapid.StringOfN(rapid.RuneFrom([]rune(few)), 1, 40, -1))
	rapid.Check(t, func(rt *rapid.T) {
		a, drawn := rapid.SampledFrom([]*Analyzer{shared, own}).Draw(rt, "analyzer"), text.Draw(rt, "text")
		tokens := a.Tokens(drawn)
		known := append(texts(tokens), "款", "申请", "民工", "发", "会发", "项目的")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 1, 3).Draw(rt, "wanted")
		tokens = slices.DeleteFunc(tokens, func(t analysis.Token) bool { return !slices.Contains(parts, t.Text) })
		checkSelected(rt, a.Selector(parts, nil)(nil, drawn), tokens)
	})
}

// TestSelectOfMixedRuns: ideographs with ASCII among them are cut run by run, unless words of
// the dictionary or of the user have both.
func TestSelectOfMixedRuns(t *testing.T) {
	own := newAnalyzer(write(t, "4s店\nab\nabcd\nc级 9000000\n款x款\n2发 n\nb.c 5\n"))
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"退", "款", "後", "發", "级", "店", "申请", "退款申請", "共和国", "0", "4", "2.5", "1994", ".", "b", "x", "C", "abcd", "B超", "T恤",
		"4S店", "Node.js", "v2.", "bC", "abcdefghijklmnopqrstuvwxyz0123456789", "'", "+", "#", "é", "５", "℃", "㐀", "，", "\u0301",
	}), 1, 14), func(all []string) string { return strings.Join(all, "") })
	rapid.Check(t, func(rt *rapid.T) {
		a, drawn := rapid.SampledFrom([]*Analyzer{shared, own}).Draw(rt, "analyzer"), text.Draw(rt, "text")
		tokens := a.Tokens(drawn)
		known := append(texts(tokens), "款", "申请", "4", "b")
		parts := rapid.SliceOfN(rapid.SampledFrom(known), 1, 4).Draw(rt, "wanted")
		tokens = slices.DeleteFunc(tokens, func(t analysis.Token) bool { return !slices.Contains(parts, t.Text) })
		checkSelected(rt, a.Selector(parts, nil)(nil, drawn), tokens)
	})
}
