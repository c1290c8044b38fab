package analysis

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Wanted says which tokens of a text are asked for. It never changes and is
// safe for concurrent use.
type Wanted struct {
	keep   func(term string) bool // nil: the parts and nothing else
	begins *beginnings            // of the words that may give a part that begins with ASCII
	firsts firsts                 // of the other parts
	heads  [heads + 1]uint32      // by bucketOf the first rune, where its parts begin
	parts  []Part                 // in the order of their buckets, then of their first runes, then of their texts
}

const heads = 1 << 6

func bucketOf(first rune) uint32 { return uint32(first) % heads }

// Part is what a wanted token is, or contains.
type Part struct {
	Number int // of the part among those given to NewWanted
	first  rune
	stop   bool
	text   string
	runes  []rune // of a text that does not begin with ASCII
}

// NewWanted wants the tokens whose text keep accepts. parts are such that each
// of those contains one of them, and each that begins with ASCII begins with one:
// stretches of text that cannot are not looked at. keep must be safe for
// concurrent use; nil wants the parts themselves, which is found out faster.
func NewWanted(parts []string, keep func(term string) bool) *Wanted {
	w := &Wanted{keep: keep, begins: &noBeginnings, parts: make([]Part, len(parts))}
	count := 0
	for _, p := range parts {
		if p != "" {
			first, _ := utf8.DecodeRuneInString(p)
			w.heads[bucketOf(first)+1]++
			count++
		}
	}
	for i := range heads {
		w.heads[i+1] += w.heads[i]
	}
	w.parts = w.parts[:count]
	w.fill(parts)
	for i := range heads {
		if of := w.parts[w.heads[i]:w.heads[i+1]]; len(of) > 1 {
			slices.SortStableFunc(of, byText)
		}
	}
	return w
}

// fill puts the parts into their buckets, of which the heads are known.
func (w *Wanted) fill(parts []string) {
	stops, _ := loadStops() // an Analyzer is not to be had without
	runes, next := make([]rune, 0, 4*len(parts)), w.heads
	for n, p := range parts {
		if p == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(p)
		from := len(runes)
		if first < utf8.RuneSelf {
			w.addBeginning(p)
		} else {
			w.firsts.add(first)
			runes = appendRunes(runes, p)
		}
		bucket := bucketOf(first)
		w.parts[next[bucket]] = Part{n, first, stops[p], p, runes[from:]}
		next[bucket]++
	}
}

func (w *Wanted) addBeginning(part string) {
	if w.begins == &noBeginnings {
		w.begins = new(beginnings)
	}
	w.begins.add(part)
}

// byText is the order of the parts of a bucket.
func byText(a, b Part) int {
	if a.first != b.first {
		return cmp.Compare(a.first, b.first)
	}
	return strings.Compare(a.text, b.text)
}

func appendRunes(runes []rune, text string) []rune {
	for _, r := range text {
		runes = append(runes, r)
	}
	return runes
}

// firsts knows the first runes of parts, and the ideographs that fold to them, by their
// lowest bits: those that the second and the third byte of an ideograph hold.
type firsts [1 << 6]uint64

func (f *firsts) add(first rune) {
	folding, err := loadFolding()
	if err != nil || first >= firstLonger {
		for i := range f {
			f[i] = 1<<64 - 1
		}
		return
	}
	f.set(first)
	for r := folding.variant[first]; r != 0; r = folding.another[r] {
		f.set(rune(r))
	}
}

func (f *firsts) set(r rune) { f[r>>6&0x3f] |= 1 << (r & 0x3f) }

// may reports whether a rune, folded or not, may be one of them.
func (f *firsts) may(r rune) bool { return f[r>>6&0x3f]>>(r&0x3f)&1 != 0 }

// from gives the parts that begin with a rune.
func (w *Wanted) from(first rune) []Part {
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

// Parts gives those that are a term: more than one if it was given several times.
func (w *Wanted) Parts(term string) []Part {
	first, _ := utf8.DecodeRuneInString(term)
	all := w.from(first)
	for len(all) > 0 && all[0].text != term {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].text != term {
		all = all[:len(all)-1]
	}
	return all
}

// wants reports whether a token is asked for.
func (w *Wanted) wants(term string) bool {
	if w.keep != nil {
		return w.keep(term)
	}
	return len(w.Parts(term)) > 0
}

// beginsWord reports whether a word that begins with a folded byte, followed by text
// that is not folded, may give a part.
func (w *Wanted) beginsWord(f *folding, first byte, rest string) bool {
	if !w.begins.match(first, rest) {
		return false
	}
	all := w.from(rune(first))
	for i := range all {
		p := &all[i]
		if f.mayStem(rest, p.text) && (w.keep != nil || len(p.text) > 1 || mayEndAtOnce(rest)) {
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
func (f *folding) mayStem(rest, part string) bool {
	for i := 1; i < len(part)-stemChanges; i++ {
		if i > len(rest) {
			return false
		}
		b := rest[i-1]
		if b >= utf8.RuneSelf {
			return true // it may fold to anything
		}
		if byte(f.table[b]) != part[i] {
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
func (w *Wanted) mayHoldPart(surface string) bool {
	for i := 0; i < len(surface); i += ideographBytes {
		if r := ideograph(surface, i); r == 0 || w.firsts.may(r) {
			return true
		}
	}
	return false
}

// beginsPart reports whether text that is not folded, with r as its first rune
// folded, may begin with a part.
func (w *Wanted) beginsPart(f *folding, r rune, text string) bool {
	if !w.firsts.may(r) {
		return false
	}
	all := w.from(r)
	for i := range all {
		if f.mayBegin(text, all[i].runes) {
			return true
		}
	}
	return false
}

// mayBegin reports whether text folds to one that begins with a part, also when it
// does not fold rune by rune.
func (f *folding) mayBegin(text string, part []rune) bool {
	for _, want := range part {
		if r := ideograph(text, 0); r != 0 {
			if f.table[r] != want {
				return false
			}
			text = text[ideographBytes:]
			continue
		}
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

// part gives the one that these runes, which are not ASCII, are; nil if none.
func (w *Wanted) part(runes []rune) *Part {
	if !w.firsts.may(runes[0]) {
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
func (w *Wanted) longest(runes []rune) (longest int) {
	if !w.firsts.may(runes[0]) {
		return 0
	}
	all := w.from(runes[0])
	for i := range all {
		longest = max(longest, all[i].begins(runes))
	}
	return longest
}

// begins is the number of runes of a part, if these begin with it, or 0.
func (p *Part) begins(runes []rune) int {
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
