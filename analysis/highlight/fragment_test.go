package highlight

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestEndsOfSentencesRuneByRune: a fragment begins and ends where a walk finds that looks
// at every rune.
func TestEndsOfSentencesRuneByRune(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"退款", "商家审核", "word", "a longer piece of text", "3.14", ".", "! ", "?", "。", "」", "……", "\n", " ", "\"", ")", "é",
		"\xe4", "\x82", "\xff", "👍🏽", "e\u0301", "䷀", "한", "の",
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 1, 60).Draw(rt, "text"), "")
		c := &cutter{text: text, size: rapid.IntRange(1, 130).Draw(rt, "size")}
		place := func(name string, from, to int) int {
			i := rapid.IntRange(from, to).Draw(rt, name)
			for i > from && i < len(text) && !utf8.RuneStart(text[i]) {
				i--
			}
			return i
		}
		h := hit{start: place("start", 0, len(text)-1)}
		h.end = c.forward(h.start, rapid.IntRange(1, c.size).Draw(rt, "runes"))
		h.runes = utf8.RuneCountInString(text[h.start:h.end])
		behind := place("behind", 0, h.start)
		start := c.start(h, behind)
		if want := slowStart(c, h, behind); start != want {
			rt.Fatalf("%q: %+v begins at %d, want %d", text, h, start, want)
		}
		if got, want := c.end(start, h.end), slowEnd(c, start, h.end); got != want {
			rt.Fatalf("%q: %+v from %d ends at %d, want %d", text, h, start, got, want)
		}
	})
}

// TestWalksRuneByRune: both ways over runes end where a walk does that looks at each.
func TestWalksRuneByRune(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &cutter{text: strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"退款", "，", "。", "ก", "\xe0\x80\x80", "\xed\xa0\x80", "\ufffd", "plain words, and more", "\n"}),
			rapid.StringMatching(`[ -~]{0,12}`), rapid.String(),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
		), 0, 20).Draw(rt, "text"), "")}
		i, n := rapid.IntRange(0, len(c.text)).Draw(rt, "from"), rapid.IntRange(0, 60).Draw(rt, "runes")
		end := i
		for range n {
			_, size := utf8.DecodeRuneInString(c.text[end:])
			end += size
		}
		if got := c.forward(i, n); got != end {
			rt.Fatalf("%q: %d runes behind %d is %d, want %d", c.text, n, i, got, end)
		}
		limit := rapid.IntRange(0, i).Draw(rt, "limit")
		at, runes := c.backWithin(i, limit, n)
		if wantAt, wantRunes := slowBackWithin(c.text, i, limit, n); at != wantAt || runes != wantRunes {
			rt.Fatalf("%q: back from %d to %d, %d runes, want %d, %d", c.text, i, at, runes, wantAt, wantRunes)
		}
	})
}

// slowBackWithin is cutter.backWithin one rune after the other.
func slowBackWithin(text string, i, limit, n int) (at, runes int) {
	for ; i > limit && runes < n; runes++ {
		switch b := text[i-1]; {
		case b < utf8.RuneSelf && !mayEndSentence[b]:
			i--
		case b >= utf8.RuneSelf && isWide(text, i-3):
			i -= 3
		default:
			return i, runes
		}
	}
	return i, runes
}

// slowStart is cutter.start one rune after the other.
func slowStart(c *cutter, h hit, behind int) int {
	room := c.size - h.runes
	third := h.start
	for i, steps := h.start, 0; i > behind; {
		if c.endsSentence(i) && c.cuttable(i) {
			return i
		}
		if steps >= room {
			return slowGap(c, third, h.start)
		}
		i = c.back(i)
		if steps++; steps <= room/3 {
			third = i
		}
	}
	return behind
}

// slowGap is the first place from one on, but before a hit, that is between words.
func slowGap(c *cutter, from, hit int) int {
	for i := from; i < hit; {
		if c.cuttable(i) && !c.splitsWord(i) {
			return i
		}
		_, size := utf8.DecodeRuneInString(c.text[i:])
		i += size
	}
	return hit
}

// slowEnd is cutter.end one rune after the other.
func slowEnd(c *cutter, start, hitEnd int) int {
	third := c.forward(start, c.size/3+1)
	last := c.forward(third, c.size-c.size/3-1)
	if last == len(c.text) && last >= hitEnd {
		return last
	}
	for i := last; i >= max(third, hitEnd) && i > start; i = c.back(i) {
		if c.endsSentence(i) && c.cuttable(i) {
			return i
		}
	}
	for i := last; i >= hitEnd && i > start; i = c.back(i) {
		if c.cuttable(i) {
			return c.wordEnd(i, hitEnd)
		}
	}
	return 0
}
