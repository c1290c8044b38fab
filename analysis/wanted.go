package analysis

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Wanted says which tokens of a text are asked for. It never changes and is
// safe for concurrent use.
type Wanted struct {
	keep   func(term string) bool
	begins beginnings // of the words that may give a part that begins with ASCII
	firsts [16]uint64 // hashes of the first runes of the other parts
	others []part     // in the order of their first runes
}

// part is a part that does not begin with ASCII.
type part struct {
	first rune
	text  string
}

// NewWanted wants the tokens whose text keep accepts. parts are such that each
// of those contains one of them, and each that begins with ASCII begins with one:
// stretches of text that cannot are not looked at. keep must be safe for
// concurrent use.
func NewWanted(parts []string, keep func(term string) bool) *Wanted {
	w := &Wanted{keep: keep}
	for _, p := range parts {
		if p == "" {
			continue
		}
		if p[0] < utf8.RuneSelf {
			w.begins.add(p)
			continue
		}
		first, _ := utf8.DecodeRuneInString(p)
		w.firsts[first>>6&15] |= 1 << (first & 63)
		w.others = append(w.others, part{first, p})
	}
	slices.SortFunc(w.others, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	return w
}

// beginsWord reports whether a word that begins with a byte, followed by text that
// is not folded, may give a part.
func (w *Wanted) beginsWord(_ *folding, first byte, rest string) bool {
	return w.begins.match(first, rest)
}

// mayBeFirst reports whether a folded rune may be the first of a part.
func (w *Wanted) mayBeFirst(r rune) bool { return w.firsts[r>>6&15]>>(r&63)&1 != 0 }

// mayHoldPart reports whether a folded surface may contain a part that does not begin
// with ASCII: a fast answer for most Chinese words.
func (w *Wanted) mayHoldPart(surface string) bool {
	for i := 0; i < len(surface); i += ideographBytes {
		if r := ideograph(surface, i); r == 0 || w.mayBeFirst(r) {
			return true
		}
	}
	return false
}

// beginsPart reports whether text that is not folded, with r as its first rune
// folded, may begin with a part.
func (w *Wanted) beginsPart(f *folding, r rune, text string) bool {
	if !w.mayBeFirst(r) {
		return false
	}
	i, _ := slices.BinarySearchFunc(w.others, r, func(p part, r rune) int { return cmp.Compare(p.first, r) })
	for ; i < len(w.others) && w.others[i].first == r; i++ {
		if f.mayBegin(text, w.others[i].text) {
			return true
		}
	}
	return false
}

// mayBegin reports whether text folds to one that begins with a part, also when it
// does not fold rune by rune.
func (f *folding) mayBegin(text, part string) bool {
	for _, want := range part {
		r, size := utf8.DecodeRuneInString(text)
		if looked := f.glance(r); looked >= uneven {
			return true
		} else if size == 0 || looked.rune() != want {
			return false
		}
		text = text[size:]
	}
	return true
}
