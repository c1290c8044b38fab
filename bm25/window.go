package bm25

import (
	"math"
	"math/bits"
)

// windowSize is how many chunks are scored together, so that their sums stay in
// the processor's first cache. A power of two.
const windowSize = 4096

// firstWindow is the size of a search's first window; each next one is twice as
// large. Small ones at first find a threshold before much is scored.
const firstWindow = windowSize / 16

// window holds the scores of the chunks [lo, hi). Sums are float64 as in Lucene:
// float32 scores add up exactly, whatever their order.
type window struct {
	lo, hi  uint32
	sums    [windowSize]float64
	matched [windowSize / 64]uint64 // by a term
	phrased [windowSize / 64]uint64 // by a phrase, which alone is no match

	counting bool
	counts   [windowSize]uint16 // groups that matched, when counting
	enough   uint16             // of them, for a phrase to be looked for

	best    [windowSize]float32 // of the alternatives of one group
	touched [windowSize / 64]uint64
}

// offer scores a chunk by one alternative of a group; the best counts.
func (w *window) offer(ord uint32, score float32) {
	at := (ord - w.lo) & (windowSize - 1)
	bit := uint64(1) << (at & 63)
	if w.touched[at>>6]&bit == 0 || score > w.best[at] {
		w.best[at] = score
	}
	w.touched[at>>6] |= bit
}

// count notes a match of one more group.
func (w *window) count(ordinals []uint32) {
	for _, ord := range ordinals {
		w.counts[(ord-w.lo)&(windowSize-1)]++
	}
}

// settle adds the best alternative of each chunk to its sum.
func (w *window) settle(g *group) {
	into := &w.matched
	if g.phrase {
		into = &w.phrased
	}
	for i, word := range w.touched {
		w.touched[i] = 0
		into[i] |= word
		for ; word != 0; word &= word - 1 {
			at := i<<6 + bits.TrailingZeros64(word)
			w.sums[at] += float64(w.best[at])
			w.counts[at] += uint16(g.counts())
		}
	}
}

// drain empties the window and calls f for each chunk that was scored, in
// ascending order.
func (w *window) drain(f func(ord uint32, sum float64, count uint16)) {
	for i := range w.matched {
		matched := w.matched[i]
		word := matched | w.phrased[i]
		w.matched[i], w.phrased[i] = 0, 0
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			at := (i<<6 + bit) & (windowSize - 1)
			sum, count := w.sums[at], uint16(matched>>bit&1)
			if w.counting {
				count = w.counts[at]
			}
			w.sums[at], w.counts[at] = 0, 0
			f(w.lo+uint32(at), sum, count)
		}
	}
}

// bar is what a chunk's sum must exceed, with the most that is still to come.
type bar struct{ rest, threshold float64 }

// noBar lets everything pass.
var noBar = bar{threshold: math.Inf(-1)}

func (b bar) reachedBy(sum float64) bool { return sum+b.rest > b.threshold }

// candidate is a chunk whose score is not complete yet.
type candidate struct {
	sum   float64
	ord   uint32
	best  float32 // of the alternatives of one group
	count uint16  // terms that matched; without counting, 1 for any number
	hit   bool
}

// group is a term with its synonyms, or a phrase, over one segment.
type group struct {
	alternatives []*scorer
	phrase       bool    // adds to the score, but is no match
	limit        float64 // the highest score in the current window
}

// enter sets the group's limit for a window; false when nothing can match.
func (g *group) enter(lo, hi uint32) bool {
	g.limit = 0
	any := false
	for _, s := range g.alternatives {
		if b, ok := s.bound(lo, hi); ok {
			any = true
			g.limit = max(g.limit, float64(b))
		}
	}
	return any
}

// isPlain reports whether the group is one term without synonyms.
func (g *group) isPlain() bool {
	return len(g.alternatives) == 1 && g.alternatives[0].matcher == nil && !g.phrase
}

// counts is what a match of the group adds to the number of matching terms.
func (g *group) counts() int {
	if g.phrase {
		return 0
	}
	return 1
}

// fill adds the group's scores to the window.
func (g *group) fill(w *window) {
	first := g.alternatives[0]
	if g.isPlain() {
		first.addTo(w)
		return
	}
	enough := uint16(0)
	if g.phrase {
		enough = w.enough
	}
	for _, s := range g.alternatives {
		s.offerTo(w, enough)
	}
	w.settle(g)
}

// probe adds the group's scores to the candidates, which are in ascending order
// and, when w is not nil, in that window. One that cannot get over the bar may be
// left with a sum of -Inf.
func (g *group) probe(cs []candidate, to bar, w *window) {
	first := g.alternatives[0]
	if g.isPlain() {
		if w != nil && first.isDense(w, len(cs)) {
			first.spreadToCandidates(cs, w)
		} else {
			first.addToCandidates(cs, to)
		}
		return
	}
	for _, s := range g.alternatives {
		for i := range cs {
			c := &cs[i]
			freq := s.freqIn(c.ord)
			if freq == 0 {
				continue
			}
			if score := s.scoreOf(c.ord, freq); !c.hit || score > c.best {
				c.best, c.hit = score, true
			}
		}
	}
	for i := range cs {
		if c := &cs[i]; c.hit {
			c.sum += float64(c.best)
			c.hit = false
			c.count += uint16(g.counts())
		}
	}
}
