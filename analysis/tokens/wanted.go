package tokens

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
)

// wanted says which tokens of a text are asked for. It never changes.
type wanted struct {
	segment.Wanted                        // of the parts that do not begin with ASCII
	keep           func(term string) bool // nil: the parts and nothing else
	begins         *beginnings            // of the words that may give a part that begins with ASCII
	parts          []part                 // in the order of their buckets, then of their first runes
	heads          [buckets + 1]int       // where the parts of a bucket begin
}

const buckets = 1 << 6

func bucketOf(first rune) int { return int(first % buckets) }

// part is what a wanted token is, or contains.
type part struct {
	first rune
	stop  bool
	text  string
	runes []rune // of a text that does not begin with ASCII
}

func (a *Analyzer) newWanted(parts []string, keep func(term string) bool) *wanted {
	w := &wanted{keep: keep, begins: &noBeginnings, parts: make([]part, 0, len(parts))}
	w.Table, w.Longest = a.folding, w.longest
	for _, text := range parts {
		if text == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(text)
		p := part{first: first, stop: a.terms.stops[text], text: text}
		if first < utf8.RuneSelf {
			w.addBeginning(text)
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
		w.heads[bucketOf(w.parts[i].first)+1]++
	}
	for i := range buckets {
		w.heads[i+1] += w.heads[i]
	}
	return w
}

func (w *wanted) addBeginning(part string) {
	if w.begins == &noBeginnings {
		w.begins = new(beginnings)
	}
	w.begins.add(part)
}

// from gives the parts that begin with a rune: hardly ever more than those of its bucket.
func (w *wanted) from(first rune) []part {
	bucket := bucketOf(first)
	all := w.parts[w.heads[bucket]:w.heads[bucket+1]]
	for len(all) > 0 && all[0].first != first {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].first != first {
		all = all[:len(all)-1]
	}
	return all
}

// wants reports whether a token is asked for.
func (w *wanted) wants(term string) bool {
	if w.keep != nil {
		return w.keep(term)
	}
	first, _ := utf8.DecodeRuneInString(term)
	all := w.from(first)
	for i := range all {
		if all[i].text == term {
			return true
		}
	}
	return false
}

// beginsWord reports whether a word that begins with a folded byte, followed by text
// that is not folded, may give a part.
func (w *wanted) beginsWord(first byte, rest string) bool {
	if !w.begins.match(first, rest) {
		return false
	}
	all := w.from(rune(first))
	for i := range all {
		p := &all[i]
		if w.mayStem(rest, p.text) && (w.keep != nil || len(p.text) > 1 || mayEndAtOnce(rest)) {
			return true
		}
	}
	return false
}

// stemChanges is how many letters at the end of a stem may be others than those of
// its word: lying and lie, stability and stabl. Every rule of the stemmer takes a
// suffix off and puts at most two new letters there, which a later rule takes off
// before it puts its own.
const stemChanges = 2

// mayStem reports whether a word that begins as a part does, and goes on with text
// that is not folded, may have a stem that begins with the part.
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

// mayEndAtOnce reports whether the stem of a word, but for its first letter followed by
// text that is not folded, may be that letter: a, a's and aing, not an.
func mayEndAtOnce(rest string) bool {
	if rest == "" {
		return true
	}
	second := rest[0] | 'a'&^'A' // in lower case, if it is a letter
	return !isLetter(second) || second == 'i' || second == 'e'
}

// mayHoldPart reports whether a folded surface may contain a part that does not begin
// with ASCII: a fast answer for most Chinese words.
func (w *wanted) mayHoldPart(surface string) bool {
	for i := 0; i < len(surface); i += fold.IdeographBytes {
		if r := fold.Ideograph(surface, i); r == 0 || w.Firsts.May(r) {
			return true
		}
	}
	return false
}

// beginsPart reports whether text that is not folded, with r as its first rune
// folded, may begin with a part.
func (w *wanted) beginsPart(r rune, text string) bool {
	if !w.Firsts.May(r) {
		return false
	}
	all := w.from(r)
	for i := range all {
		if w.mayBegin(text, all[i].runes) {
			return true
		}
	}
	return false
}

// mayBegin reports whether text folds to one that begins with a part, also when it
// does not fold rune by rune.
func (w *wanted) mayBegin(text string, part []rune) bool {
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

// part gives the one that these runes, which are not ASCII, are; nil if none.
func (w *wanted) part(runes []rune) *part {
	if !w.Firsts.May(runes[0]) {
		return nil
	}
	all := w.from(runes[0])
	for i := range all {
		if all[i].begins(runes) == len(runes) {
			return &all[i]
		}
	}
	return nil
}

// longest is how many runes the longest part has that these, which are not ASCII, begin
// with.
func (w *wanted) longest(runes []rune) (longest int) {
	all := w.from(runes[0])
	for i := range all {
		longest = max(longest, all[i].begins(runes))
	}
	return longest
}

// begins is the number of runes of a part, if these begin with it, or 0.
func (p *part) begins(runes []rune) int {
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
