package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is the byte range of a sentence in a text, without surrounding white space.
type Sentence struct{ Start, End int }

// minSentence is the length in bytes from which a sentence is meaningful by itself: eight
// ideographs, or a few English words. A shorter one, such as a heading, goes with the next.
const minSentence = 24

// Sentences splits a text where fragments begin, into at most limit sentences, or runs of
// them of about one length: all of the text is covered.
func Sentences(text string, limit int) []Sentence {
	least := max(minSentence, (len(text)+limit-1)/limit)
	c := cutter{text: text}
	var all []Sentence
	start := 0
	for i := 1; i <= len(text); i++ {
		ends := i == len(text) || c.mayEnd(i) && c.endsSentence(i) && c.cuttable(i)
		if !ends || i < len(text) && i-start < least {
			continue
		}
		s := trimmed(text, Sentence{start, i})
		switch {
		case s.Start == s.End:
		case i-start < least && len(all) > 0:
			all[len(all)-1].End = s.End
		default:
			all = append(all, s)
		}
		start = i
	}
	return all
}

func trimmed(text string, s Sentence) Sentence {
	part := text[s.Start:s.End]
	s.Start += len(part) - len(strings.TrimLeft(part, white))
	s.End -= len(part) - len(strings.TrimRight(part, white))
	return Sentence{s.Start, max(s.Start, s.End)}
}

const white = " \t\r\n\u3000"

// isTerminator reports whether a sign ends a sentence whatever follows it.
func isTerminator(r rune) bool {
	switch r {
	case '。', '！', '？', '…', '\n', '．', '｡':
		return true
	}
	return false
}

// isCloser reports whether a sign belongs to the sentence before it.
func isCloser(r rune) bool {
	switch r {
	case '”', '’', '」', '』', '）', ')', ']', '"', '\'', '》':
		return true
	}
	return false
}

// mayEndSentence holds the last bytes of terminators and closers.
var mayEndSentence = func() (last [256]bool) {
	for r := range rune(utf8.MaxRune) {
		if s := string(r); isTerminator(r) || isCloser(r) || r == '.' || r == '!' || r == '?' {
			last[s[len(s)-1]] = true
		}
	}
	return last
}()

// endsNothing holds the ASCII that cannot end a sentence.
var endsNothing = func() (all [256]bool) {
	for b := range utf8.RuneSelf {
		all[b] = !mayEndSentence[b]
	}
	return all
}()

// mayEnd reports whether a sentence may end before byte i: a fast check for most places.
func (c *cutter) mayEnd(i int) bool { return i > 0 && mayEndSentence[c.text[i-1]] }

// endsSentence reports whether a sentence ends before byte i.
func (c *cutter) endsSentence(i int) bool {
	before := c.text[:i]
	if isWide(before, i-3) {
		return false
	}
	r, size := utf8.DecodeLastRuneInString(before)
	for n := 0; n < 2 && isCloser(r); n++ { // ！” ?) 。」
		before = before[:len(before)-size]
		r, size = utf8.DecodeLastRuneInString(before)
	}
	latin := r == '.' || r == '!' || r == '?'
	if before == "" || !latin && !isTerminator(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(c.text[i:])
	if r == '\n' {
		return len(before) == i && !isTerminator(next) // a closer behind it opens the next line
	}
	if latin {
		return i == len(c.text) || unicode.IsSpace(next) // not 3.14, not a != b
	}
	return !isTerminator(next) && (!isCloser(next) || len(before) < i)
}

// splitsWord reports whether a cut at i would split a word of a script with spaces.
func (c *cutter) splitsWord(i int) bool {
	if i > 0 && i < len(c.text) && c.text[i-1] < utf8.RuneSelf && c.text[i] < utf8.RuneSelf {
		return isAlphanumeric(c.text[i-1]) && isAlphanumeric(c.text[i])
	}
	before, _ := utf8.DecodeLastRuneInString(c.text[:i])
	after, _ := utf8.DecodeRuneInString(c.text[i:])
	return isSpacedLetter(before) && isSpacedLetter(after)
}

// isSpacedLetter reports whether a rune is a letter or digit of a script that puts
// spaces between words.
func isSpacedLetter(r rune) bool {
	if isIdeograph(r) {
		return false
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.In(r, unspacedScripts...)
}

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// cuttable reports whether a cut at i leaves graphemes whole. It looks at two runes
// only, so it also refuses some harmless cuts (between flags).
// https://unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules
func (c *cutter) cuttable(i int) bool {
	if i <= 0 || i >= len(c.text) {
		return true
	}
	if c.text[i-1] < utf8.RuneSelf && c.text[i] < utf8.RuneSelf {
		return c.text[i-1] != '\r' || c.text[i] != '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(c.text[:i])
	after, _ := utf8.DecodeRuneInString(c.text[i:])
	switch {
	case neverJoins(before) && neverJoins(after):
		return before != '\r' || after != '\n'
	case unicode.In(after, unicode.M, unicode.Cf), after >= 0x1f3fb && after <= 0x1f3ff:
		return false // marks, joiners, skin tones
	case unicode.Is(unicode.Cf, before), isFlag(before) && isFlag(after):
		return false
	}
	return !isJamo(after) && (!unicode.Is(unicode.Mn, before) || !unicode.IsLetter(after))
}

func isAlphanumeric(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// isIdeograph reports the common ideographs: a fast path for Chinese.
func isIdeograph(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }

// neverJoins reports whether a rune never combines with another.
func neverJoins(r rune) bool {
	return r < 0x300 && r != 0xad || isIdeograph(r) || r >= 0x3000 && r < 0x302a || r >= 0xff01 && r <= 0xff60
}

func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// isJamo reports whether a rune may continue a Hangul syllable.
func isJamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xd7b0 && r <= 0xd7ff
}
