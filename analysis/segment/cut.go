package segment

import (
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Lattice is the reusable scratch space of a cut.
type Lattice struct {
	runes   []rune
	at      []int     // the byte at which each rune begins, and the end
	first   []float64 // the weight of each rune alone
	second  []branch  // the edge of each rune together with the next
	best    []float64 // the weight of the best words from each rune on; 0 at the end
	next    []int     // the end of the first of these words
	columns []column  // of the model
	states  []uint8
	words   []Word

	// Of a window, which is cut around wanted words:
	wanted  *Wanted // nil: all words are
	open    [2]bool // there are runes before the first, after the last
	tied    bool    // weights were so close that those runes could decide
	byModel [2]int  // the end of the runes left to the model at the start, the start of those at the end
	placed  []Placed
}

// read sets the runes and their offsets.
func (s *Lattice) read(text string) {
	for i := 0; i < len(text); {
		r, size := fold.Ideograph(text, i), fold.IdeographBytes
		if r == 0 {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		s.runes, s.at = append(s.runes, r), append(s.at, i)
		i += size
	}
	s.at = append(s.at, len(text))
}

// Segment implements Segmenter; Cut is faster.
func (l *Lexicon) Segment(text string, words []Word) []Word {
	return append(words, l.Cut(text, new(Lattice))...)
}

// Cut returns the words of a text. They are valid until the next cut with this lattice.
func (l *Lexicon) Cut(text string, s *Lattice) []Word {
	s.runes, s.at, s.wanted, s.open = s.runes[:0], s.at[:0], nil, [2]bool{}
	s.read(text)
	return l.segment(s)
}

// segment finds the words of the runes in the lattice.
func (l *Lexicon) segment(s *Lattice) []Word {
	s.words, s.tied, s.byModel = s.words[:0], false, [2]int{0, len(s.runes)}
	l.tree.weigh(s)
	for i := 0; i < len(s.runes); {
		if !l.single(s, i) {
			l.emit(s, i, s.next[i])
			i = s.next[i]
			continue
		}
		from := i
		for i < len(s.runes) && l.single(s, i) {
			i++
		}
		s.noteModelRunes(from, i)
		if s.mayHold(from, i) {
			l.cutSingles(s, from, i)
		} else {
			s.add(from, i, false)
		}
	}
	return s.words
}

func (s *Lattice) add(from, to int, part bool) {
	s.words = append(s.words, Word{s.at[from], s.at[to], part})
}

// noteModelRunes notes runes left to the model at the start or the end of a window.
func (s *Lattice) noteModelRunes(from, to int) {
	if from == 0 {
		s.byModel[0] = to
	}
	if to == len(s.runes) {
		s.byModel[1] = from
	}
}

// mayHold reports whether a wanted word may begin with one of these runes. If not, it is
// enough to know that there are words.
func (s *Lattice) mayHold(from, to int) bool {
	if s.wanted == nil {
		return true
	}
	for _, r := range s.runes[from:to] {
		if s.wanted.Firsts.May(r) {
			return true
		}
	}
	return false
}

// single reports whether the rune at i is alone and left to the model.
func (l *Lexicon) single(s *Lattice, i int) bool {
	return s.next[i] == i+1 && (len(l.alone) == 0 || !l.alone[s.runes[i]])
}

// emit adds the words of two and three runes within a word, then the word itself.
func (l *Lexicon) emit(s *Lattice, from, to int) {
	if to-from > 2 && s.mayHold(from, to) {
		l.emitParts(s, from, to)
	}
	s.add(from, to, false)
}

func (l *Lexicon) emitParts(s *Lattice, from, to int) {
	for size := 2; size <= 3 && size < to-from; size++ {
		for i := from; i+size <= to; i++ {
			if l.tree.has(s, i, size) {
				s.add(i, i+size, true)
			}
		}
	}
}

// cutSingles cuts runes that belong to no word of the dictionary: ASCII into words and
// numbers, the others by the model.
func (l *Lexicon) cutSingles(s *Lattice, from, to int) {
	for i := from; i < to; {
		end := i + 1
		if s.runes[i] < 0x80 {
			end = i + asciiWord(s.runes[i:to])
			l.emit(s, i, end)
			i = end
			continue
		}
		for end < to && s.runes[end] >= 0x80 {
			end++
		}
		l.cutByModel(s, i, end)
		i = end
	}
}

// asciiWord returns the length of the word, number or sign that the runes begin with.
func asciiWord(runes []rune) int {
	letter := isASCIILetter(runes[0])
	if !letter && !isASCIIDigit(runes[0]) {
		return 1
	}
	n := 1
	for n < len(runes) && (isASCIIDigit(runes[n]) || letter && isASCIILetter(runes[n]) || !letter && runes[n] == '.') {
		n++
	}
	return n
}

func isASCIILetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isASCIIDigit(r rune) bool  { return '0' <= r && r <= '9' }

func (l *Lexicon) cutByModel(s *Lattice, from, to int) {
	if to-from == 1 {
		l.emit(s, from, to)
		return
	}
	start := from
	for i, state := range l.model.states(s.runes[from:to], s) {
		if state == wordEnd || state == wordAlone {
			l.emit(s, start, from+i+1)
			start = from + i + 1
		}
	}
}

// grow returns n elements of any value.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	return s[:n]
}
