// Package fold turns text into the form in which it is matched: NFKC, case folded, full
// width to half width, traditional Chinese to simplified. It can map offsets back to the
// original text.
package fold

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Class is the tokenizer's class of a folded rune.
type Class uint8

// The classes.
const (
	Other  Class = iota // separates tokens
	Word                // letter or digit of a script that writes spaces
	Mark                // belongs to the letter before it
	Han                 // segmented by the dictionary
	Kana                // indexed as overlapping pairs, as are the classes below
	Hangul              // there are spaces, but particles and endings stand at the words
	Pair                // Thai …: no spaces, no dictionary
)

// Values in Table.runes that are not runes.
const (
	dropped   rune = -1 // ignorable (soft hyphen, joiners): removed
	combining rune = -2 // may combine with the rune before it: normalised as one cluster
	composite rune = -3 // becomes several runes
)

// Table maps each rune of the basic plane to its folded form, one rune to one rune where
// possible, which keeps offsets into the original text simple. It is safe for concurrent
// use.
type Table struct {
	runes        [0x10000]rune
	classes      [0x10000]Class
	looks        [0x10000]Look
	firstVariant [0x10000]uint16 // of a folded rune: the first other ideograph that folds to it, or 0
	nextVariant  [0x10000]uint16 // of a variant: the next one of the same folded rune, or 0
	alphanumeric [256]bool       // ASCII letters and digits
}

// The common ideographs. All are three bytes long, fold to one ideograph, rarely a longer
// one, and do not combine with the rune before them.
const (
	firstIdeograph, lastIdeograph = 0x4e00, 0x9fff
	// IdeographBytes is the length of a common ideograph.
	IdeographBytes = 3

	firstLonger = 0x10000 // the first rune of four bytes
)

// Ideograph returns the common ideograph (U+4E00 to U+9FFF) that begins at byte i, or 0.
// It is several times as fast as decoding any rune.
func Ideograph(s string, i int) rune {
	if i+2 >= len(s) {
		return 0
	}
	second, third := s[i+1]^0x80, s[i+2]^0x80
	r := rune(s[i]^0xe0)<<12 | rune(second)<<6 | rune(third)
	if second|third > 0x3f || uint32(r-firstIdeograph) > lastIdeograph-firstIdeograph {
		return 0
	}
	return r
}

// Look is a summary of a rune for a scan without folding: the rune that it folds to, and
// in its highest bits whether that is a sign, or not exactly one rune.
type Look uint32

const (
	sign   Look = 1 << 30
	uneven Look = 1 << 31
)

// Uneven reports whether a rune folds to several runes or none, or may combine with
// another.
func (l Look) Uneven() bool { return l >= uneven }

// Separates reports whether an even rune is a sign between tokens.
func (l Look) Separates() bool { return l&sign != 0 }

// Rune returns the rune that an even rune folds to.
func (l Look) Rune() rune { return rune(l &^ sign) }

var (
	kanaScripts = []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana, kanaOfBoth}
	pairScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

	// kanaOfBoth are the signs that repeat kana and the one that prolongs a vowel, which
	// Unicode gives to neither script.
	kanaOfBoth = &unicode.RangeTable{R16: []unicode.Range16{{Lo: '〱', Hi: '〵', Stride: 1}, {Lo: 'ー', Hi: 'ー', Stride: 1}}}
)

// Load returns the table of the process. The first call makes it, in about 10 ms.
var Load = sync.OnceValue(newTable)

func newTable() *Table {
	simpler := simplifications()
	t := &Table{}
	caser := cases.Fold()
	for r := range rune(len(t.runes)) {
		t.runes[r] = foldRune(caser, r)
	}
	for r := range t.runes {
		if s, ok := simpler[t.runes[r]]; ok {
			t.runes[r] = s
		}
		t.classes[r] = classify(rune(r))
	}
	t.runes['’'], t.runes['＇'] = '\'', '\''
	for r, folded := range t.runes {
		switch {
		case folded < 0:
			t.looks[r] = uneven
		case t.Class(folded) == Other:
			t.looks[r] = Look(folded) | sign
		default:
			t.looks[r] = Look(folded)
		}
	}
	for r := rune(lastIdeograph); r >= firstIdeograph; r-- {
		if to := t.runes[r]; to != r && to < firstLonger {
			t.nextVariant[r], t.firstVariant[to] = t.firstVariant[to], uint16(r)
		}
	}
	for b := range utf8.RuneSelf {
		t.alphanumeric[b] = t.classes[b] == Word
	}
	return t
}

// simplified is a line for each traditional character: it and what it is simplified to. A test writes it from OpenCC's
// dictionaries (github.com/BYVoid/OpenCC, Apache License 2.0), and compares it with them; a program that had those
// with it would be a megabyte larger.
//
//go:embed simplified.txt
var simplified string

// simplifications is OpenCC's character map from traditional to simplified. Phrases are
// not converted: text and question are folded alike anyway, and mapping single runes keeps
// the offsets.
func simplifications() map[rune]rune {
	table := make(map[rune]rune, 4096)
	for line := range strings.Lines(simplified) {
		from, size := utf8.DecodeRuneInString(line)
		table[from], _ = utf8.DecodeRuneInString(line[size:])
	}
	return table
}

func foldRune(caser cases.Caser, r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return unicode.ToLower(r)
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return r // ideographs and Hangul syllables: caseless and already in NFKC
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Cf, r):
		return dropped
	case utf8.RuneLen(r) < 0:
		return utf8.RuneError
	case !norm.NFKC.PropertiesString(string(r)).BoundaryBefore():
		return combining
	}
	s := caser.String(norm.NFKC.String(string(r)))
	if c, size := utf8.DecodeRuneInString(s); size == len(s) {
		return c
	}
	return composite
}

func classify(r rune) Class {
	switch {
	case unicode.Is(unicode.Han, r):
		return Han
	case unicode.IsLetter(r), unicode.IsMark(r):
		return classOfLetter(r)
	case unicode.IsNumber(r):
		return Word
	}
	return Other
}

func classOfLetter(r rune) Class {
	switch {
	case unicode.In(r, kanaScripts...):
		return Kana
	case unicode.Is(unicode.Hangul, r):
		return Hangul
	case unicode.In(r, pairScripts...):
		return Pair
	case unicode.IsMark(r):
		return Mark
	}
	return Word
}

// Class returns the class of a folded rune.
func (t *Table) Class(r rune) Class {
	if int(r) < len(t.classes) {
		return t.classes[r]
	}
	return classify(r)
}

// Look returns the summary of a rune.
func (t *Table) Look(r rune) Look {
	if int(r) < len(t.looks) {
		return t.looks[r]
	}
	return uneven
}

// ASCII folds a byte of ASCII.
func (t *Table) ASCII(b byte) byte { return byte(t.runes[b]) }

// Alphanumeric reports whether a byte is an ASCII letter or digit.
func (t *Table) Alphanumeric(b byte) bool { return t.alphanumeric[b] }

// Simplified folds a common ideograph and reports whether the result has the same length.
func (t *Table) Simplified(r rune) (to rune, sameLength bool) {
	to = t.runes[r]
	return to, to < firstLonger
}

// variants returns the other ideographs that fold to a rune of the basic plane.
func (t *Table) variants(r rune) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for v := t.firstVariant[r]; v != 0; v = t.nextVariant[v] {
			if !yield(rune(v)) {
				return
			}
		}
	}
}

// IsASCII reports whether a text is only ASCII.
func IsASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
