package analysis

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// Wanted says which tokens of a text are asked for. It never changes and is
// safe for concurrent use.
type Wanted struct {
	keep       func(term string) bool
	beginnings [utf8.RuneSelf]uint64 // by the first byte of words that may give a part: hashes of the second
	firsts     [16]uint64            // hashes of the first runes of the other parts
	others     []part                // in the order of their first runes
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
			w.begin(p)
			continue
		}
		first, _ := utf8.DecodeRuneInString(p)
		w.firsts[first>>6&15] |= 1 << (first & 63)
		w.others = append(w.others, part{first, p})
	}
	slices.SortFunc(w.others, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	return w
}

// begin notes how words begin that may give the part. A stem begins as its word
// does, but for dying, lying and tying; it may be one letter long.
func (w *Wanted) begin(part string) {
	if len(part) == 1 {
		w.beginnings[part[0]] = math.MaxUint64
		return
	}
	w.beginnings[part[0]] |= 1 << (part[1] & 63)
	if part[1] == 'i' {
		w.beginnings[part[0]] |= 1 << ('y' & 63)
	}
}

// Select gives those of Tokens that are wanted, several times faster where
// they are few. Positions rise and differ by one exactly where the tokens are
// neighbours in Tokens; otherwise they are not those of Tokens.
func (a *Analyzer) Select(text string, w *Wanted) []Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.selecting, s.tokens = true, s.tokens[:0]
	runes := runeCounter{text: text}
	position := 0
	for i := 0; i < len(text); {
		found := s.folding.nextWanted(text, i, w)
		if found.skipped {
			position++
		}
		if found.start < found.end {
			spans := s.run(text[found.start:found.end], true)
			s.choose(w, &placement{locator{spans: spans}, &runes, found.start, position})
			position += len(s.pieces)
		}
		i = found.next
	}
	return slices.Clone(s.tokens)
}

// choose keeps the wanted of the pieces. Only ASCII words are stemmed, all other
// terms are in the text as they are.
func (s *scanner) choose(w *Wanted, place *placement) {
	for i, p := range s.pieces {
		surface := s.text[p.start:p.end]
		if surface[0] >= utf8.RuneSelf && !w.keep(surface) {
			continue
		}
		if e := s.terms.lookup(surface); w.keep(e.term) {
			p.term, p.stop = e.term, e.stop
			s.tokens = append(s.tokens, place.token(i, p))
		}
	}
}

// stretch is text between signs that no token lies across and no rune combines
// with: it gives the same tokens whatever is around it.
type stretch struct {
	start, end, next int
	skipped          bool // there are tokens in front of it
}

// nextWanted looks for the next stretch that may give a wanted token, without
// folding or cutting it: an empty one behind the last. What does not fold rune by
// rune is taken for wanted.
func (f *folding) nextWanted(text string, i int, w *Wanted) stretch {
	g := gaze{folding: f, Wanted: w, text: text, begins: true}
	found := stretch{start: i}
	for i < len(text) {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		at := i
		i += size
		switch looked := f.glance(r); {
		case looked < sign:
			i = g.letter(looked.rune(), at, i)
		case looked >= uneven:
			g.wanted = true
		case connector(looked.rune()) || f.joins(text, i):
			g.begins = true
		case g.wanted:
			found.end, found.next = at, i
			return found
		default:
			found.start, found.skipped = i, found.skipped || g.words
			g.begins, g.joined, g.words = true, false, false
		}
	}
	found.end, found.next = found.start, len(text)
	if g.wanted {
		found.end = len(text)
	}
	return found
}

// gaze is a first look at a stretch.
type gaze struct {
	*folding
	*Wanted
	text   string
	begins bool // ASCII here begins a word
	joined bool // ASCII here may be joined to a letter before it
	words  bool // there are tokens
	wanted bool // there may be a wanted one
}

// letter looks at a folded letter, mark or digit in front of next, and gives the
// place to look at then: the ends of ASCII words are of no interest.
func (g *gaze) letter(r rune, at, next int) int {
	g.words = true
	if r >= utf8.RuneSelf {
		g.joined = true
		g.wanted = g.wanted || g.beginsPart(g.folding, r, g.text[at:])
		return next
	}
	if g.begins || g.joined {
		g.wanted = g.wanted || g.beginsWord(g.folding, byte(r), g.text[next:])
		g.begins = false
	}
	for !g.joined && next < len(g.text) && g.text[next] < utf8.RuneSelf && g.classes[g.text[next]] == word {
		next++
	}
	return next
}

// connector reports a sign that may be within a word.
func connector(r rune) bool { return r == '\'' || r == '.' || r == '+' || r == '#' }

// beginsWord reports whether a word that begins with a byte, followed by text that
// is not folded, may give a part.
func (w *Wanted) beginsWord(f *folding, first byte, rest string) bool {
	seconds := w.beginnings[first]
	switch {
	case seconds == 0 || seconds == math.MaxUint64:
		return seconds != 0
	case rest == "":
		return false
	case rest[0] >= utf8.RuneSelf:
		return true
	}
	return seconds>>(f.table[rest[0]]&63)&1 != 0
}

// beginsPart reports whether text that is not folded, with r as its first rune
// folded, may begin with a part.
func (w *Wanted) beginsPart(f *folding, r rune, text string) bool {
	if w.firsts[r>>6&15]>>(r&63)&1 == 0 {
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
