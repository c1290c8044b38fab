package bm25

import "math/bits"

// windowSize is how many chunks are scored together, so that their sums stay in
// the processor's first cache. A power of two.
const windowSize = 4096

// window holds the scores of the chunks [lo, hi). Sums are float64 as in Lucene:
// float32 scores add up exactly, whatever their order.
type window struct {
	lo, hi  uint32
	sums    [windowSize]float64
	matched [windowSize / 64]uint64

	counting bool
	counts   [windowSize]uint16 // groups that matched, when counting

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

// settle adds the best alternative of each chunk to its sum.
func (w *window) settle() {
	for i, word := range w.touched {
		w.touched[i] = 0
		w.matched[i] |= word
		for ; word != 0; word &= word - 1 {
			at := i<<6 + bits.TrailingZeros64(word)
			w.sums[at] += float64(w.best[at])
			w.counts[at]++
		}
	}
}

// drain calls f for every chunk that matched, in ascending order, and empties
// the window. Counts are 0 unless counting.
func (w *window) drain(f func(ord uint32, sum float64, count uint16)) {
	for i, word := range w.matched {
		w.matched[i] = 0
		for ; word != 0; word &= word - 1 {
			at := i<<6 + bits.TrailingZeros64(word)
			sum, count := w.sums[at], w.counts[at]
			w.sums[at], w.counts[at] = 0, 0
			f(w.lo+uint32(at), sum, count)
		}
	}
}

// candidate is a chunk whose score is not complete yet.
type candidate struct {
	sum   float64
	ord   uint32
	best  float32 // of the alternatives of one group
	count uint16
	hit   bool
}

// group is a term with its synonyms, or a phrase, over one segment.
type group struct {
	alternatives []*scorer
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

// fill adds the group's scores to the window.
func (g *group) fill(w *window) {
	if first := g.alternatives[0]; !w.counting && len(g.alternatives) == 1 && first.matcher == nil {
		first.addTo(w)
		return
	}
	for _, s := range g.alternatives {
		s.offerTo(w)
	}
	w.settle()
}

// probe adds the group's scores to the candidates, which are in ascending order.
func (g *group) probe(cs []candidate) {
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
			c.count++
			c.hit = false
		}
	}
}
