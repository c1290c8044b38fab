package segment

import (
	"math"
	"math/bits"
)

// wordTree is the dictionary as it is searched: laid out so that a rune of a text costs
// few looks into memory that is in no cache. That most pairs of runes begin no
// word is told by a small table of bits, an edge brings the weight of the word
// that ends with it.
type wordTree struct {
	first   []initial // by the runes of the basic plane
	pairs   []uint64  // hashes of the first two runes of words
	inner   []uint64  // hashes of any two runes that are together in a word
	edges   []branch  // an open hash by node and rune
	weights []float64 // those of the words
	unknown float64   // the weight of a rune that is no word
}

// initial is what a word may begin with.
type initial struct {
	edge   uint64
	weight float64 // of the rune alone
}

// branch is an edge with what is at its end.
type branch struct {
	edge   uint64 // 0 is empty
	follow uint32 // hashes of the runes that go on from there
	weight uint32 // of the word that ends there, in weights; notThere if none does
}

const (
	notThere  = 0
	pairsBits = 20
	innerBits = 21
)

// pack lays out the words that were read.
func (r *reader) pack() wordTree {
	t := wordTree{
		first: make([]initial, 1<<16), pairs: make([]uint64, 1<<pairsBits/64), unknown: r.unknown,
		edges: make([]branch, len(r.weights)*5/3), weights: []float64{noWord},
		inner: make([]uint64, 1<<innerBits/64),
	}
	places := make([]uint32, len(r.weights)) // by node
	numbers := make(map[float64]uint32, 1<<13)
	for _, e := range r.edges {
		if e == 0 {
			continue
		}
		place := t.place(source(e), by(e))
		t.edges[place] = branch{edge: e, weight: t.number(r.weights[target(e)], numbers)}
		places[target(e)] = uint32(place)
	}
	for _, e := range r.edges {
		if e == 0 || source(e) == root {
			continue
		}
		before := &t.edges[places[source(e)]]
		before.follow |= hashOf(by(e))
		pair := pairOf(by(before.edge), by(e))
		at := pair >> (32 - innerBits)
		t.inner[at/64] |= 1 << (at % 64)
		if source(before.edge) == root {
			at = pair >> (32 - pairsBits)
			t.pairs[at/64] |= 1 << (at % 64)
		}
	}
	for first := range t.first {
		t.first[first] = t.initial(rune(first))
	}
	return t
}

// number is where a weight is in weights; numbers remembers.
func (t *wordTree) number(weight float64, numbers map[float64]uint32) uint32 {
	if weight == noWord {
		return notThere
	}
	n, known := numbers[weight]
	if !known {
		n = uint32(len(t.weights))
		numbers[weight] = n
		t.weights = append(t.weights, weight)
	}
	return n
}

// hashOf gives a rune one of 32 bits.
func hashOf(r rune) uint32 { return 1 << (r & 31) }

func pairOf(r, next rune) uint32 {
	return uint32(r)*0x9e3779b1 ^ uint32(next)*0x85ebca6b
}

// beginsWith reports whether a word may begin with these two runes.
func (t *wordTree) beginsWith(r, next rune) bool {
	at := pairOf(r, next) >> (32 - pairsBits)
	return t.pairs[at/64]>>(at%64)&1 != 0
}

// mayJoin reports whether a word may have these two runes, one behind the other.
func (t *wordTree) mayJoin(r, next rune) bool {
	at := pairOf(r, next) >> (32 - innerBits)
	return t.inner[at/64]>>(at%64)&1 != 0
}

// place is where the edge from a node by a rune is, or would be.
func (t *wordTree) place(node int, r rune) int {
	key := uint64(node)<<edgeBits | uint64(r)
	high, _ := bits.Mul64(key*0x9e3779b97f4a7c15, uint64(len(t.edges)))
	at := int(high)
	for t.edges[at].edge != 0 && t.edges[at].edge>>(edgeBits+1) != key {
		if at++; at == len(t.edges) {
			at = 0
		}
	}
	return at
}

// initial looks a rune up that a word may begin with.
func (t *wordTree) initial(r rune) initial {
	b := &t.edges[t.place(root, r)]
	if b.weight == notThere {
		return initial{b.edge, t.unknown}
	}
	return initial{b.edge, t.weights[b.weight]}
}

func (t *wordTree) begin(r rune) initial {
	if int(r) < len(t.first) {
		return t.first[r]
	}
	return t.initial(r)
}

// has reports whether two or three runes from i on are a word.
func (t *wordTree) has(s *Lattice, i, size int) bool {
	b := &s.second[i]
	if size == 3 && b.edge != 0 {
		last := s.runes[i+2]
		if b.follow&hashOf(last) == 0 {
			return false
		}
		b = &t.edges[t.place(target(b.edge), last)]
	}
	return b.edge != 0 && b.weight != notThere
}

// weigh finds, from the end on, the heaviest words from each rune on; of equal
// ones the shortest. The order of additions is gojieba's: a last bit may decide.
func (t *wordTree) weigh(s *Lattice) {
	n := len(s.runes)
	t.lookUp(s)
	s.best, s.next = grow(s.best, n+1), grow(s.next, n)
	s.best[n] = 0
	for i := n - 1; i >= 0; i-- {
		s.best[i], s.next[i] = s.best[i+1]+s.first[i], i+1
		if s.second[i].edge != 0 {
			t.weighLonger(s, i)
		}
	}
}

// lookUp finds the first two edges from each rune on, before any is needed and the
// first all before the second: so the looks into slow memory overlap.
func (t *wordTree) lookUp(s *Lattice) {
	n := len(s.runes)
	s.first, s.second = grow(s.first, n), grow(s.second, n)
	for i, r := range s.runes {
		begun := t.begin(r)
		s.first[i], s.second[i].edge = begun.weight, begun.edge
	}
	for i := range s.second {
		edge := s.second[i].edge
		s.second[i] = branch{}
		if i+1 < n && edge&leadsOn != 0 && t.beginsWith(s.runes[i], s.runes[i+1]) {
			s.second[i] = t.edges[t.place(target(edge), s.runes[i+1])]
		}
	}
}

// tie is a difference between weights that rounding may turn round, when what is behind
// is weighed too: a sum of a thousand weights is right to 1e-9.
const tie = 1e-6

// weighLonger weighs the words of several runes from a rune on.
func (t *wordTree) weighLonger(s *Lattice, i int) {
	best, next := s.best[i], s.next[i]
	b := &s.second[i]
	for j := i + 2; ; j++ {
		if b.weight != notThere {
			weight := s.best[j] + t.weights[b.weight]
			s.close = s.close || math.Abs(weight-best) < tie
			if weight > best {
				best, next = weight, j
			}
		}
		if j == len(s.runes) || b.follow&hashOf(s.runes[j]) == 0 {
			break
		}
		if b = &t.edges[t.place(target(b.edge), s.runes[j])]; b.edge == 0 {
			break
		}
	}
	s.best[i], s.next[i] = best, next
}
