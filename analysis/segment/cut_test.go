package segment

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis/fold"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// goodModel finds words of two runes in those that no word has.
const goodModel = "0 -9 -9 -1\n-9 -1 -9 -9\n-1 -9 -9 -1\n-9 -1 -9 -9\n-1 -9 -9 -1\n一:-1\n一:-1.5\n一:-9\n一:-2\n"

func newLexicon(t *testing.T, words ...string) *Lexicon {
	t.Helper()
	l, err := Read(Source{Words: strings.Join(words, "\n") + "\n", Model: goodModel, Fingerprint: "of the test"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCut(t *testing.T) {
	l := newLexicon(t, "中华 9 n", "人民 9 n", "共和 3 n", "共和国 9 n", "中华人民共和国 5 n", "国人 9 n", "成立 9 v", "了 99 u", "b超 2 n")
	f := func(text, want string) {
		t.Helper()
		var got []string
		for _, w := range l.Segment(text, nil) {
			part := ""
			if w.Part {
				part = "+"
			}
			got = append(got, text[w.Start:w.End]+part)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s is cut as %s, want %s", text, s, want)
		}
	}
	f("", "")
	f("中华人民共和国成立了", "中华+ 人民+ 共和+ 共和国+ 中华人民共和国 成立 了")
	f("做b超了", "做 b超 了")
	f("web2.0中华", "web2 . 0 中华")
	if s := Segmenter(l); s.Lexicon() != l || s.Fingerprint() != "of the test" {
		t.Error("a lexicon is no segmenter of its own")
	}
}

// TestFingerprintStays: an index made under another one is built anew, so what changes
// it does so on purpose.
func TestFingerprintStays(t *testing.T) {
	if got, want := Fingerprint(), "d3332cd5b97d71f4"; got != want {
		t.Errorf("the fingerprint is %s, was %s", got, want)
	}
}

// TestCutAround: the wanted words are those of the whole cut, neighbours where they were.
func TestCutAround(t *testing.T) {
	known := []string{"一二", "二三", "三四", "四五", "一二三", "三四五六", "五六", "六", "七八九一"}
	lines := make([]string, len(known))
	for i, w := range known {
		lines[i] = w + " 7 n" // the same weight: sums of as many words tie
	}
	l := newLexicon(t, append(lines, "七 1 n")...)
	// 二三|四 and 二|三四 weigh the same: what is behind decides in the last bit.
	checkAround(t, l, [3]string{"", "二三四一一", ""}, "二三")
	checkAround(t, l, [3]string{"", "二三四一", "x"}, "二三")
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"一", "二", "三", "四", "五", "七", "九", "二三四", "一二三", "三四五六", "九七八九一",
	}), 1, 40)
	beside := rapid.SampledFrom([]string{"", "x", "abc12345.6"})
	rapid.Check(t, func(rt *rapid.T) {
		wanted := rapid.SliceOfN(rapid.SampledFrom(append(known, "八九", "七", "九")), 1, 3).Draw(rt, "wanted")
		run := strings.Join(pieces.Draw(rt, "run"), "")
		checkAround(rt, l, [3]string{beside.Draw(rt, "before"), run, beside.Draw(rt, "behind")}, wanted...)
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkAround looks for words in the run in the middle of a text.
func checkAround(t failer, l *Lexicon, in [3]string, wanted ...string) {
	table := fold.Load()
	w := &Wanted{Table: table, Longest: func(runes []rune) (longest int) {
		for _, word := range wanted {
			if strings.HasPrefix(string(runes), word) {
				longest = max(longest, utf8.RuneCountInString(word))
			}
		}
		return longest
	}}
	for _, word := range wanted {
		first, _ := utf8.DecodeRuneInString(word)
		w.Firsts.Add(table, first)
	}
	text, run := strings.Join(in[:], ""), in[1]
	got := l.CutAround(text, len(in[0]), w, new(Lattice))
	if got.Count == 0 && text != run {
		return // what is beside the run could decide
	}
	var want, found []Placed
	for i, word := range l.Segment(text, nil) {
		word.Start, word.End = word.Start-len(in[0]), word.End-len(in[0])
		if word.Start >= 0 && word.End <= len(run) && slices.Contains(wanted, run[word.Start:word.End]) {
			want = append(want, Placed{word, i})
		}
	}
	for _, p := range got.Words {
		if slices.Contains(wanted, run[p.Start:p.End]) {
			found = append(found, p)
		}
	}
	same := func(i int) bool {
		neighbours := i > 0 && want[i].Place-want[i-1].Place == 1
		return found[i].Word == want[i].Word &&
			(i == 0 || found[i].Place > found[i-1].Place && (found[i].Place-found[i-1].Place == 1) == neighbours)
	}
	for i := range max(len(found), len(want)) {
		if i >= len(found) || i >= len(want) || !same(i) {
			t.Fatalf("%q, wanted %v: %+v, want %+v", in, wanted, found, want)
		}
	}
}
