// Package fold turns text into the form in which it is matched: NFKC, case
// folded, full width to half width, traditional Chinese to simplified, with the
// way back to the original text.
package fold

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/longbridgeapp/opencc"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/hybridge-search/hybridge/fault"
)

// Class says what a folded rune is to the tokenizer.
type Class uint8

// The classes.
const (
	Other Class = iota // separates tokens
	Word               // letter or digit of a script that writes spaces
	Mark               // belongs to the letter before it
	Han                // segmented by the dictionary
	Pair               // kana, Thai …: no spaces, no dictionary; indexed as pairs
)

// Values in Table.runes that are not runes.
const (
	dropped   rune = -1 // ignorable (soft hyphen, joiners): nothing is left of it
	combining rune = -2 // may join the rune before it: normalised as one cluster
	composite rune = -3 // becomes several runes
)

// Table maps each rune of the basic plane to what it is matched as. One rune to
// one rune where possible, so that offsets into the original text stay known. It
// is safe for concurrent use.
type Table struct {
	runes   [0x10000]rune
	classes [0x10000]Class
	looks   [0x10000]Look
	variant [0x10000]uint16 // the first other ideograph that folds to a rune, 0 if there is none
	another [0x10000]uint16 // the next that folds to the same rune as an ideograph
	plain   [256]bool       // ASCII letters and digits
}

// The ideographs of most Chinese texts. All are three bytes long and fold to an
// ideograph, if rarely to a longer one; none combines with a rune before it.
const (
	firstIdeograph, lastIdeograph = 0x4e00, 0x9fff
	// IdeographBytes is the length of one that Ideograph finds.
	IdeographBytes = 3

	firstLonger = 0x10000
)

// Ideograph is the common ideograph (U+4E00 to U+9FFF) that begins at byte i, or 0.
// Decoding any rune takes several times as long.
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

// Look is what a first look at a rune has to know: what it folds to, and in its
// highest bits whether that is a sign, or not exactly one rune.
type Look uint32

const (
	sign   Look = 1 << 30
	uneven Look = 1 << 31
)

// Uneven reports whether a rune folds to several runes, to none, or joins another.
func (l Look) Uneven() bool { return l >= uneven }

// Separates reports whether an even rune is a sign between tokens.
func (l Look) Separates() bool { return l&sign != 0 }

// Rune is what an even rune folds to.
func (l Look) Rune() rune { return rune(l &^ sign) }

var pairScripts = []*unicode.RangeTable{
	unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// Load gives the table of the process, made at the first call (about 50 ms).
var Load = sync.OnceValues(newTable)

func newTable() (*Table, error) {
	simplified, err := simplifications()
	if err != nil {
		return nil, err
	}
	t := &Table{}
	caser := cases.Fold()
	for r := range rune(len(t.runes)) {
		t.runes[r] = foldRune(caser, r)
	}
	for r := range t.runes {
		if s, ok := simplified[t.runes[r]]; ok {
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
			t.another[r], t.variant[to] = t.variant[to], uint16(r)
		}
	}
	for b := range utf8.RuneSelf {
		t.plain[b] = t.classes[b] == Word
	}
	return t, nil
}

// simplifications is OpenCC's character map from traditional to simplified.
// Whole phrases are not converted: both sides of a match are folded alike, and
// a rune for a rune keeps the offsets.
func simplifications() (map[rune]rune, error) {
	converter, err := opencc.New("t2s")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "loading the table from traditional to simplified Chinese")
	}
	table := make(map[rune]rune, 4096)
	for r := rune(0x3400); r <= 0x9fff; r++ {
		s, err := converter.Convert(string(r))
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "converting %q to simplified Chinese", r)
		}
		if c, size := utf8.DecodeRuneInString(s); size == len(s) && c != r && c != utf8.RuneError {
			table[r] = c
		}
	}
	return table, nil
}

func foldRune(caser cases.Caser, r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return unicode.ToLower(r)
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return r // ideographs and Hangul syllables: no case, normal as they are
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
	case unicode.In(r, pairScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r)):
		return Pair
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return Word
	case unicode.IsMark(r):
		return Mark
	}
	return Other
}

// Class is that of a folded rune.
func (t *Table) Class(r rune) Class {
	if int(r) < len(t.classes) {
		return t.classes[r]
	}
	return classify(r)
}

// Look looks at a rune.
func (t *Table) Look(r rune) Look {
	if int(r) < len(t.looks) {
		return t.looks[r]
	}
	return uneven
}

// ASCII is what a byte of ASCII folds to.
func (t *Table) ASCII(b byte) byte { return byte(t.runes[b]) }

// Alphanumeric reports whether a byte is an ASCII letter or digit.
func (t *Table) Alphanumeric(b byte) bool { return t.plain[b] }

// Simplified is what a common ideograph folds to, and whether that is as long.
func (t *Table) Simplified(r rune) (to rune, asLong bool) {
	to = t.runes[r]
	return to, to < firstLonger
}

// variants are the other ideographs that fold to a rune of the basic plane.
func (t *Table) variants(r rune) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for v := t.variant[r]; v != 0; v = t.another[v] {
			if !yield(rune(v)) {
				return
			}
		}
	}
}

// IsASCII reports whether a text has only ASCII bytes.
func IsASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
