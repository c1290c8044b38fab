package analysis

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Wanted says which tokens of a text are asked for. It never changes and is
// safe for concurrent use.
type Wanted struct {
	keep       func(term string) bool
	byFirst    map[rune][]string // parts by their first rune
	beginnings [256][4]uint64    // the first two bytes of words that may give a part, as bits
}

// NewWanted wants the tokens whose text keep accepts. parts are such that each
// of those with an ideograph contains one of them, and each that begins with ASCII
// begins with one: what cannot need not be segmented or stemmed. keep must be safe
// for concurrent use.
func NewWanted(parts []string, keep func(term string) bool) *Wanted {
	w := &Wanted{keep: keep, byFirst: make(map[rune][]string, len(parts))}
	for _, p := range parts {
		first, _ := utf8.DecodeRuneInString(p)
		w.byFirst[first] = append(w.byFirst[first], p)
		w.begin(p)
	}
	return w
}

// begin notes how words begin that may give the part. A stem begins as its word
// does, but for dying, lying and tying; it may be one letter long.
func (w *Wanted) begin(part string) {
	switch {
	case part == "":
	case len(part) == 1:
		w.beginnings[part[0]] = [4]uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
	default:
		w.mark(part[0], part[1])
		if part[1] == 'i' {
			w.mark(part[0], 'y')
		}
	}
}

func (w *Wanted) mark(first, second byte) { w.beginnings[first][second>>6] |= 1 << (second & 63) }

// mayBe reports whether a word, which is not empty, may give a wanted term. Of
// words that do not begin with ASCII it knows nothing.
func (w *Wanted) mayBe(surface string) bool {
	return surface[0] >= utf8.RuneSelf || w.beginsPart(surface)
}

// beginsPart looks at the first two bytes only.
func (w *Wanted) beginsPart(text string) bool {
	second := byte(0)
	if len(text) > 1 {
		second = text[1]
	}
	return w.beginnings[text[0]][second>>6]>>(second&63)&1 != 0
}

// Select gives those of Tokens that are wanted, several times faster where
// they are few. Positions rise and differ by one exactly where the tokens are
// neighbours in Tokens; otherwise they are not those of Tokens.
func (a *Analyzer) Select(text string, w *Wanted) []Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.wanted = w
	f := s.run(text, true)
	return s.tokens(text, f.spans)
}

// skips adds a single piece without a term for runs that cannot hold a wanted
// token; they would have given at least one. Only ASCII words are stemmed, all
// other terms are in the text as they are.
func (s *scanner) skips(runs []run) bool {
	if s.wanted == nil {
		return false
	}
	for _, r := range runs {
		if !r.han && s.wants(s.text[r.start:r.end]) {
			return false
		}
	}
	start, end := runs[0].start, runs[len(runs)-1].end
	if s.wanted.holdsPart(s.text[start:end]) {
		return false
	}
	s.pieces = append(s.pieces, piece{start: start, end: end})
	return true
}

// wants reports whether a word gives a wanted term.
func (s *scanner) wants(surface string) bool {
	return s.wanted.mayBe(surface) && s.wanted.keep(s.terms.lookup(surface).term)
}

func (w *Wanted) holdsPart(text string) bool {
	for i, r := range text {
		if !w.beginsPart(text[i:]) {
			continue
		}
		for _, part := range w.byFirst[r] {
			if strings.HasPrefix(text[i:], part) {
				return true
			}
		}
	}
	return false
}

// shows reports whether a piece becomes a token.
func (w *Wanted) shows(p piece) bool { return w == nil || p.term != "" && w.keep(p.term) }
