package segment

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Source holds the files of gojieba that a Lexicon is read from.
type Source struct {
	Words string // lines `word frequency tag`
	User  string // lines `word [frequency] [tag]`
	Model string // the hidden Markov model

	Fingerprint string // of all of them
	// Log is the natural logarithm; nil: math.Log. gojieba uses the C library's, which may
	// differ in the last bit, and that bit decides between words of equal frequency.
	Log func(float64) float64
}

// Read reads a dictionary. It returns nil for one that is too large for the tables: some
// million words.
func Read(from Source) (*Lexicon, error) {
	if from.Log == nil {
		from.Log = math.Log
	}
	l := &Lexicon{fingerprint: from.Fingerprint, alone: map[rune]bool{}}
	r := &reader{Lexicon: l, log: from.Log, weights: []float64{noWord}}
	r.resize(1 << 20)
	shares, ok := r.addWords(from.Words)
	if !ok || !r.addUserWords(from.User, shares) {
		return nil, nil //nolint:nilnil // documented: a dictionary too large is no error
	}
	r.tree = r.pack()
	var err error
	l.model, err = readWordModel(from.Model)
	return l, err
}

// reader builds a lexicon from lines.
type reader struct {
	*Lexicon
	log     func(float64) float64
	edges   []uint64  // a hash table with open addressing: node, rune → edge; 0 is empty
	shift   uint      // from a hash to an index in edges
	weights []float64 // by node: the logarithm of a word's share, or noWord
	unknown float64   // the weight of a rune that is no word: the least of all
}

// An edge has 21 bits each for its node, its rune and the node it leads to, and one for
// whether that node has edges itself.
const (
	edgeBits = 21
	maxNodes = 1 << edgeBits
	leadsOn  = 1
	root     = 0
)

// noWord is the weight of a node where no word ends.
var noWord = math.Inf(1)

// shares turns frequencies into weights.
type shares struct {
	log    func(float64) float64
	sum    float64
	median float64 // of the dictionary: the weight of a user's word without a frequency
	known  map[float64]float64
}

func (s *shares) weight(frequency float64) float64 {
	w, ok := s.known[frequency]
	if !ok {
		w = s.log(frequency / s.sum)
		s.known[frequency] = w
	}
	return w
}

func (r *reader) addWords(lines string) (s shares, ok bool) {
	s.log, s.known = r.log, map[float64]float64{}
	var frequencies []float64
	for line := range strings.Lines(lines) {
		_, frequency := entry(line)
		frequencies = append(frequencies, frequency)
		s.sum += frequency
	}
	i := 0
	for line := range strings.Lines(lines) {
		word, _ := entry(line)
		if !r.add(word, s.weight(frequencies[i])) {
			return s, false
		}
		i++
	}
	slices.Sort(frequencies)
	r.unknown, s.median = s.weight(frequencies[0]), s.weight(frequencies[len(frequencies)/2])
	return s, true
}

// entry returns the word and the frequency of a line of the dictionary.
func entry(line string) (word string, frequency float64) {
	word, rest, _ := strings.Cut(line, " ")
	number, _, _ := strings.Cut(rest, " ")
	frequency, _ = strconv.ParseFloat(number, 64) // lines without a number were skipped
	return word, frequency
}

func (r *reader) addUserWords(lines string, s shares) bool {
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		weight := s.median
		if len(fields) == 3 {
			_, frequency := entry(line)
			weight = s.weight(frequency)
		}
		if runes := []rune(fields[0]); len(runes) == 1 {
			r.alone[runes[0]] = true
		}
		if !r.add(fields[0], weight) {
			return false
		}
	}
	return true
}

// add sets the weight of a word. It reports false if the table is full.
func (r *reader) add(word string, weight float64) bool {
	for 2*(len(r.weights)+len(word)) > len(r.edges) {
		if len(r.edges) == 2*maxNodes {
			return false
		}
		r.resize(2 * len(r.edges))
	}
	node, before := root, -1
	r.noteJoins(word)
	for _, c := range word {
		at := r.slot(node, c)
		if r.edges[at] == 0 {
			r.edges[at] = uint64(node)<<(2*edgeBits+1) | uint64(c)<<(edgeBits+1) | uint64(len(r.weights))<<1
			r.weights = append(r.weights, noWord)
			if before >= 0 {
				r.edges[before] |= leadsOn
			}
		}
		node, before = target(r.edges[at]), at
	}
	r.weights[node] = weight
	return true
}

// noteJoins notes the ASCII at the beginning of a word and next to its other runes.
func (r *reader) noteJoins(word string) {
	ascii := func(i int) bool { return i >= 0 && i < len(word) && word[i] < utf8.RuneSelf }
	for i := range len(word) {
		if ascii(i) && (!ascii(i-1) || !ascii(i+1) && i+1 < len(word)) {
			r.joins[word[i]] = true
		}
	}
}

func (r *reader) resize(n int) {
	old := r.edges
	r.edges = make([]uint64, n)
	r.shift = uint(64 - bits.Len(uint(n-1)))
	for _, e := range old {
		if e != 0 {
			r.edges[r.slot(source(e), label(e))] = e
		}
	}
}

func source(edge uint64) int { return int(edge >> (2*edgeBits + 1)) }
func label(edge uint64) rune { return rune(edge >> (edgeBits + 1) & (maxNodes - 1)) }
func target(edge uint64) int { return int(edge >> 1 & (maxNodes - 1)) }

// slot returns the index of the edge from a node with a rune, or of the free slot for it.
func (r *reader) slot(node int, label rune) int {
	key := uint64(node)<<edgeBits | uint64(label)
	mask := len(r.edges) - 1
	at := int(key * 0x9e3779b97f4a7c15 >> r.shift)
	for r.edges[at] != 0 && r.edges[at]>>(edgeBits+1) != key {
		at = (at + 1) & mask
	}
	return at
}
