package segment

import (
	"math"
	"math/bits"
)

// wordTree is the dictionary in a layout that needs few cache misses for a rune of a text.
// A small bit table rules out most pairs of runes that begin no word, and an edge holds the
// weight of the word that ends with it.
type wordTree struct {
	first   []initial // by rune of the basic plane
	pairs   []uint64  // bits by hash: the first two runes of a word
	inner   []uint64  // bits by hash: any two adjacent runes of a word
	edges   []branch  // a hash table with open addressing, by node and rune
	weights []float64 // of the words
	unknown float64   // the weight of a rune that is no word
}

// initial is the first rune of a word.
type initial struct {
	edge   uint64
	weight float64 // of the rune alone
}

// branch is an edge and what is at its end.
type branch struct {
	edge   uint64 // 0 is empty
	follow uint32 // bits by hash: the runes that edges from there have
	weight uint32 // the index in weights of the word that ends there, or noWeight
}

const (
	noWeight  = 0
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
	slots := make([]uint32, len(r.weights)) // by node: that of the edge to it
	indexes := make(map[float64]uint32, 1<<13)
	for _, e := range r.edges {
		if e == 0 {
			continue
		}
		at := t.slot(source(e), label(e))
		t.edges[at] = branch{edge: e, weight: t.weightIndex(r.weights[target(e)], indexes)}
		slots[target(e)] = uint32(at)
	}
	for _, e := range r.edges {
		if e == 0 || source(e) == root {
			continue
		}
		before := &t.edges[slots[source(e)]]
		before.follow |= hashOf(label(e))
		pair := pairOf(label(before.edge), label(e))
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

// weightIndex returns the index of a weight in weights and adds it if it is new.
func (t *wordTree) weightIndex(weight float64, indexes map[float64]uint32) uint32 {
	if weight == noWord {
		return noWeight
	}
	n, known := indexes[weight]
	if !known {
		n = uint32(len(t.weights))
		indexes[weight] = n
		t.weights = append(t.weights, weight)
	}
	return n
}

// hashOf maps a rune to one of 32 bits.
func hashOf(r rune) uint32 { return 1 << (r & 31) }

// pairOf is the hash of two adjacent runes.
func pairOf(r, next rune) uint32 {
	return uint32(r)*0x9e3779b1 ^ uint32(next)*0x85ebca6b
}

// beginsWith reports whether a word may begin with these two runes.
func (t *wordTree) beginsWith(r, next rune) bool {
	at := pairOf(r, next) >> (32 - pairsBits)
	return t.pairs[at/64]>>(at%64)&1 != 0
}

// mayJoin reports whether a word may have these two runes next to each other.
func (t *wordTree) mayJoin(r, next rune) bool {
	at := pairOf(r, next) >> (32 - innerBits)
	return t.inner[at/64]>>(at%64)&1 != 0
}

// slot returns the index of the edge from a node with a rune, or of the free slot for it.
func (t *wordTree) slot(node int, r rune) int {
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

// initial looks up the first rune of a word.
func (t *wordTree) initial(r rune) initial {
	b := &t.edges[t.slot(root, r)]
	if b.weight == noWeight {
		return initial{b.edge, t.unknown}
	}
	return initial{b.edge, t.weights[b.weight]}
}

// firstRune is initial by the table, which has the basic plane.
func (t *wordTree) firstRune(r rune) initial {
	if int(r) < len(t.first) {
		return t.first[r]
	}
	return t.initial(r)
}

// has reports whether the two or three runes from i on are a word.
func (t *wordTree) has(s *Lattice, i, size int) bool {
	b := &s.second[i]
	if size == 3 && b.edge != 0 {
		last := s.runes[i+2]
		if b.follow&hashOf(last) == 0 {
			return false
		}
		b = &t.edges[t.slot(target(b.edge), last)]
	}
	return b.edge != 0 && b.weight != noWeight
}

// weigh finds the heaviest sequence of words from each rune on, starting from the end. Of
// equal ones it takes the one with the shorter word. The order of additions is gojieba's,
// as the last bit may decide.
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

// lookUp finds the first two edges from each rune on, before any is needed, and all of the
// first before the second, so that the cache misses overlap.
func (t *wordTree) lookUp(s *Lattice) {
	n := len(s.runes)
	s.first, s.second = grow(s.first, n), grow(s.second, n)
	for i, r := range s.runes {
		first := t.firstRune(r)
		s.first[i], s.second[i].edge = first.weight, first.edge
	}
	for i := range s.second {
		edge := s.second[i].edge
		s.second[i] = branch{}
		if i+1 < n && edge&leadsOn != 0 && t.beginsWith(s.runes[i], s.runes[i+1]) {
			s.second[i] = t.edges[t.slot(target(edge), s.runes[i+1])]
		}
	}
}

// tie is a difference of weights that rounding may reverse once the rest of the text is
// added: a sum of a thousand weights is exact to 1e-9.
const tie = 1e-6

// weighLonger weighs the words of several runes from a rune on.
func (t *wordTree) weighLonger(s *Lattice, i int) {
	best, next := s.best[i], s.next[i]
	b := &s.second[i]
	for j := i + 2; ; j++ {
		if b.weight != noWeight {
			weight := s.best[j] + t.weights[b.weight]
			s.tied = s.tied || math.Abs(weight-best) < tie
			if weight > best {
				best, next = weight, j
			}
		}
		if j == len(s.runes) || b.follow&hashOf(s.runes[j]) == 0 {
			break
		}
		if b = &t.edges[t.slot(target(b.edge), s.runes[j])]; b.edge == 0 {
			break
		}
	}
	s.best[i], s.next[i] = best, next
}
