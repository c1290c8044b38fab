package tokens

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
)

// wanted says which tokens of a text are wanted. It never changes.
type wanted struct {
	segment.Wanted                        // of the parts that do not begin with ASCII
	keep           func(term string) bool // nil: just the parts
	prefixes       *prefixFilter          // of words whose stem may begin with an ASCII part
	parts          []part                 // by bucket, then by first rune
	starts         [buckets + 1]int       // of each bucket in parts
}

const buckets = 1 << 6

func bucketOf(first rune) int { return int(first % buckets) }

// part is a text that a wanted token equals, or contains.
type part struct {
	first rune
	stop  bool
	text  string
	runes []rune // nil if it begins with ASCII
}

func (a *Analyzer) newWanted(parts []string, keep func(term string) bool) *wanted {
	w := &wanted{keep: keep, prefixes: &noPrefixes, parts: make([]part, 0, len(parts))}
	w.Table, w.Longest = a.folding, w.longest
	for _, text := range parts {
		if text == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(text)
		p := part{first: first, stop: a.terms.stops[text], text: text}
		if first < utf8.RuneSelf {
			w.addPrefixes(text)
		} else {
			w.Firsts.Add(w.Table, first)
			p.runes = []rune(text)
		}
		w.parts = append(w.parts, p)
	}
	slices.SortFunc(w.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(bucketOf(a.first), bucketOf(b.first)), cmp.Compare(a.first, b.first))
	})
	for i := range w.parts {
		w.starts[bucketOf(w.parts[i].first)+1]++
	}
	for i := range buckets {
		w.starts[i+1] += w.starts[i]
	}
	return w
}

func (w *wanted) addPrefixes(part string) {
	if w.prefixes == &noPrefixes {
		w.prefixes = new(prefixFilter)
	}
	w.prefixes.add(part)
}

// partsOf returns the parts that begin with a rune, which are most of its bucket.
func (w *wanted) partsOf(first rune) []part {
	bucket := bucketOf(first)
	all := w.parts[w.starts[bucket]:w.starts[bucket+1]]
	for len(all) > 0 && all[0].first != first {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].first != first {
		all = all[:len(all)-1]
	}
	return all
}

// wants reports whether a token is wanted.
func (w *wanted) wants(term string) bool {
	if w.keep != nil {
		return w.keep(term)
	}
	first, _ := utf8.DecodeRuneInString(term)
	all := w.partsOf(first)
	for i := range all {
		if all[i].text == term {
			return true
		}
	}
	return false
}

// mayBeginWord reports whether a folded byte of ASCII followed by unfolded text may begin
// a wanted word.
func (w *wanted) mayBeginWord(first byte, rest string) bool {
	if !w.prefixes.match(first, rest) {
		return false
	}
	all := w.partsOf(rune(first))
	for i := range all {
		p := &all[i]
		if w.mayStem(rest, p.text) && (w.keep != nil || len(p.text) > 1 || mayStemToFirst(rest)) {
			return true
		}
	}
	return false
}

// stemChanges is the number of letters at the end of a stem that may differ from the word: lying and
// lie, stability and stabl. Every rule of the stemmer replaces a suffix by at most two
// letters, and a later rule removes these before it adds its own.
const stemChanges = 2

// mayStem reports whether a word that begins like a part and goes on with unfolded text
// may have a stem that begins with the part.
func (w *wanted) mayStem(rest, part string) bool {
	for i := 1; i < len(part)-stemChanges; i++ {
		if i > len(rest) {
			return false
		}
		b := rest[i-1]
		if b >= utf8.RuneSelf {
			return true // it may fold to anything
		}
		if w.Table.ASCII(b) != part[i] {
			return false
		}
	}
	return true
}

// mayStemToFirst reports whether the stem of a word may be its first letter alone (a, a's
// and aing, but not an). rest is the unfolded text after that letter.
func mayStemToFirst(rest string) bool {
	if rest == "" {
		return true
	}
	second := rest[0] | 'a'&^'A' // in lower case, if it is a letter
	return !isLetter(second) || second == 'i' || second == 'e'
}

// mayHoldPart reports whether a folded word may contain a part that does not begin with
// ASCII: a fast check for most Chinese words.
func (w *wanted) mayHoldPart(surface string) bool {
	for i := 0; i < len(surface); i += fold.IdeographBytes {
		if r := fold.Ideograph(surface, i); r == 0 || w.Firsts.May(r) {
			return true
		}
	}
	return false
}

// mayBeginPart reports whether unfolded text, whose first rune folds to r, may begin with
// a part.
func (w *wanted) mayBeginPart(r rune, text string) bool {
	if !w.Firsts.May(r) {
		return false
	}
	all := w.partsOf(r)
	for i := range all {
		if w.mayFoldTo(text, all[i].runes) {
			return true
		}
	}
	return false
}

// mayFoldTo reports whether unfolded text may begin with a part once it is folded. Text
// that does not fold rune by rune may.
func (w *wanted) mayFoldTo(text string, part []rune) bool {
	for _, want := range part {
		if r := fold.Ideograph(text, 0); r != 0 {
			if to, _ := w.Table.Simplified(r); to != want {
				return false
			}
			text = text[fold.IdeographBytes:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if look := w.Table.Look(r); look.Uneven() {
			return true
		} else if size == 0 || look.Rune() != want {
			return false
		}
		text = text[size:]
	}
	return true
}

// part returns the part that equals these runes, which do not begin with ASCII, or nil.
func (w *wanted) part(runes []rune) *part {
	if !w.Firsts.May(runes[0]) {
		return nil
	}
	all := w.partsOf(runes[0])
	for i := range all {
		if all[i].prefixOf(runes) == len(runes) {
			return &all[i]
		}
	}
	return nil
}

// longest returns the length in runes of the longest part that these runes, which do not
// begin with ASCII, begin with.
func (w *wanted) longest(runes []rune) (longest int) {
	all := w.partsOf(runes[0])
	for i := range all {
		longest = max(longest, all[i].prefixOf(runes))
	}
	return longest
}

// prefixOf returns the length of the part if the runes begin with it, else 0.
func (p *part) prefixOf(runes []rune) int {
	if len(p.runes) > len(runes) {
		return 0
	}
	for i, r := range p.runes {
		if runes[i] != r {
			return 0
		}
	}
	return len(p.runes)
}
