package analysis

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexicon is gojieba's dictionary as a tree of runes in flat tables, so that
// marking a page needs no call into C for each stretch of ideographs. It cuts word
// for word as gojieba's search mode does: the most probable sequence of words by
// their frequencies, what is left of single runes by the hidden Markov model.
// https://github.com/yanyiwu/cppjieba (MPSegment, MixSegment, QuerySegment)
type lexicon struct {
	tree  wordTree
	alone map[rune]bool
	edgy  [utf8.RuneSelf]bool // the ASCII that a word begins with, or has beside other runes
	model *wordModel

	// While the words are read:
	edges   []uint64  // an open hash: node, rune → edge; 0 is empty
	shift   uint      // of a hash, to a place in edges
	weights []float64 // by node: the logarithm of a word's share, or noWord
	unknown float64   // the weight of a rune that is no word: the least of all
}

// An edge is 21 bits each of its node, its rune and the node it leads to, then
// whether that node leads on.
const (
	edgeBits = 21
	maxNodes = 1 << edgeBits
	leadsOn  = 1
	root     = 0
)

// noWord is the weight of a node at which no word ends.
var noWord = math.Inf(1)

// newLexicon reads what gojieba reads: lines `word frequency tag`, the user's words
// `word [frequency] tag`, and the model. A dictionary too large for the table
// gives nil: then gojieba cuts.
func newLexicon(words, user, model string) (*lexicon, error) {
	l := &lexicon{alone: map[rune]bool{}, weights: []float64{noWord}}
	l.resize(1 << 20)
	shares, ok := l.addWords(words)
	if !ok || !l.addUserWords(user, shares) {
		return nil, nil //nolint:nilnil // documented: a dictionary too large is no error
	}
	l.tree = l.pack()
	l.edges, l.weights = nil, nil
	var err error
	l.model, err = readWordModel(model)
	return l, err
}

// shares turns frequencies into weights.
type shares struct {
	sum    float64
	median float64 // of the dictionary's words: what a user's word counts without a frequency
	known  map[float64]float64
}

func (s *shares) weight(frequency float64) float64 {
	w, ok := s.known[frequency]
	if !ok {
		w = logarithm(frequency / s.sum)
		s.known[frequency] = w
	}
	return w
}

func (l *lexicon) addWords(lines string) (s shares, ok bool) {
	s.known = map[float64]float64{}
	var frequencies []float64
	for line := range strings.Lines(lines) {
		_, frequency := entry(line)
		frequencies = append(frequencies, frequency)
		s.sum += frequency
	}
	i := 0
	for line := range strings.Lines(lines) {
		word, _ := entry(line)
		if !l.add(word, s.weight(frequencies[i])) {
			return s, false
		}
		i++
	}
	slices.Sort(frequencies)
	l.unknown, s.median = s.weight(frequencies[0]), s.weight(frequencies[len(frequencies)/2])
	return s, true
}

// entry is the word and the frequency of a line of the dictionary.
func entry(line string) (word string, frequency float64) {
	word, rest, _ := strings.Cut(line, " ")
	number, _, _ := strings.Cut(rest, " ")
	frequency, _ = strconv.ParseFloat(number, 64) // foldWords left out what is no number
	return word, frequency
}

func (l *lexicon) addUserWords(lines string, s shares) bool {
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		weight := s.median
		if len(fields) == 3 {
			_, frequency := entry(line)
			weight = s.weight(frequency)
		}
		if runes := []rune(fields[0]); len(runes) == 1 {
			l.alone[runes[0]] = true
		}
		if !l.add(fields[0], weight) {
			return false
		}
	}
	return true
}

// add gives a word its weight; a later one replaces an earlier one.
func (l *lexicon) add(word string, weight float64) bool {
	for 2*(len(l.weights)+len(word)) > len(l.edges) {
		if len(l.edges) == 2*maxNodes {
			return false
		}
		l.resize(2 * len(l.edges))
	}
	node, before := root, -1
	l.noteEdges(word)
	for _, r := range word {
		at := l.place(node, r)
		if l.edges[at] == 0 {
			l.edges[at] = uint64(node)<<(2*edgeBits+1) | uint64(r)<<(edgeBits+1) | uint64(len(l.weights))<<1
			l.weights = append(l.weights, noWord)
			if before >= 0 {
				l.edges[before] |= leadsOn
			}
		}
		node, before = target(l.edges[at]), at
	}
	l.weights[node] = weight
	return true
}

// noteEdges notes the ASCII at the edges of what a word has of it.
func (l *lexicon) noteEdges(word string) {
	ascii := func(i int) bool { return i >= 0 && i < len(word) && word[i] < utf8.RuneSelf }
	for i := range len(word) {
		if ascii(i) && (!ascii(i-1) || !ascii(i+1) && i+1 < len(word)) {
			l.edgy[word[i]] = true
		}
	}
}

func (l *lexicon) resize(n int) {
	old := l.edges
	l.edges = make([]uint64, n)
	l.shift = uint(64 - bits.Len(uint(n-1)))
	for _, e := range old {
		if e != 0 {
			l.edges[l.place(source(e), by(e))] = e
		}
	}
}

func source(edge uint64) int { return int(edge >> (2*edgeBits + 1)) }
func by(edge uint64) rune    { return rune(edge >> (edgeBits + 1) & (maxNodes - 1)) }
func target(edge uint64) int { return int(edge >> 1 & (maxNodes - 1)) }

// place is where the edge from a node by a rune is, or would be.
func (l *lexicon) place(node int, r rune) int {
	key := uint64(node)<<edgeBits | uint64(r)
	mask := len(l.edges) - 1
	at := int(key * 0x9e3779b97f4a7c15 >> l.shift)
	for l.edges[at] != 0 && l.edges[at]>>(edgeBits+1) != key {
		at = (at + 1) & mask
	}
	return at
}

// extent is a word in bytes of the text cut, or a part of the longer one behind it.
type extent struct {
	start, end int
	part       bool
}

// lattice is the scratch space of a cut, to be used again.
type lattice struct {
	runes   []rune
	at      []int     // the byte at which each rune begins, and the end
	first   []float64 // the weight of each rune alone
	second  []branch  // the edge that leads on from each, over the next
	best    []float64 // the weight of the best words from a rune on, and 0 behind the last
	next    []int     // the rune behind the first of them
	columns []column  // of the model
	states  []uint8
	words   []extent

	wanted *Wanted // nil: all words
	open   [2]bool // there are more runes before the first, behind the last: window
	close  bool    // weights were so close that those could decide
	loose  [2]int  // the end of the runes left to the model at the beginning, the start of those at the end
}

// read takes the runes of a text and their places.
func (s *lattice) read(text string) {
	for i := 0; i < len(text); {
		r, size := ideograph(text, i), ideographBytes
		if r == 0 {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		s.runes, s.at = append(s.runes, r), append(s.at, i)
		i += size
	}
	s.at = append(s.at, len(text))
}

// cut segments text: the parts of a long word, then the word. The words are valid
// until the next cut with this lattice.
func (l *lexicon) cut(text string, s *lattice) []extent {
	s.runes, s.at, s.wanted, s.open = s.runes[:0], s.at[:0], nil, [2]bool{}
	s.read(text)
	return l.segment(s)
}

// segment finds the words of the runes that were read.
func (l *lexicon) segment(s *lattice) []extent {
	s.words, s.close, s.loose = s.words[:0], false, [2]int{0, len(s.runes)}
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
		s.noteLoose(from, i)
		if s.mayHold(from, i) {
			l.unknowns(s, from, i)
		} else {
			s.add(from, i, false)
		}
	}
	return s.words
}

func (s *lattice) add(from, to int, part bool) {
	s.words = append(s.words, extent{s.at[from], s.at[to], part})
}

func (s *lattice) noteLoose(from, to int) {
	if from == 0 {
		s.loose[0] = to
	}
	if to == len(s.runes) {
		s.loose[1] = from
	}
}

// severed reports on which sides, where there are more runes, a wanted word of the model
// may go on.
func (s *lattice) severed() (before, behind bool) {
	return s.open[0] && s.mayHold(0, s.loose[0]), s.open[1] && s.mayHold(s.loose[1], len(s.runes))
}

// mayHold reports whether a wanted word may begin with one of these runes. Of others
// it is enough to know that there are words.
func (s *lattice) mayHold(from, to int) bool {
	if s.wanted == nil {
		return true
	}
	for _, r := range s.runes[from:to] {
		if s.wanted.firsts.may(r) {
			return true
		}
	}
	return false
}

// single reports whether the rune at i stands alone and is left to the model.
func (l *lexicon) single(s *lattice, i int) bool {
	return s.next[i] == i+1 && (len(l.alone) == 0 || !l.alone[s.runes[i]])
}

// emit adds the words of two and of three runes within a longer one, then itself.
func (l *lexicon) emit(s *lattice, from, to int) {
	if to-from > 2 && s.mayHold(from, to) {
		l.emitParts(s, from, to)
	}
	s.add(from, to, false)
}

func (l *lexicon) emitParts(s *lattice, from, to int) {
	for size := 2; size <= 3 && size < to-from; size++ {
		for i := from; i+size <= to; i++ {
			if l.tree.has(s, i, size) {
				s.add(i, i+size, true)
			}
		}
	}
}

// unknowns cuts runes that are no part of a word: ASCII into words and numbers, the
// others by the model.
func (l *lexicon) unknowns(s *lattice, from, to int) {
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
		l.guess(s, i, end)
		i = end
	}
}

// asciiWord is the length of a word, of a number or of a sign.
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

// guess cuts runes by the model.
func (l *lexicon) guess(s *lattice, from, to int) {
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

// grow gives n elements of whatever value.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	return s[:n]
}
