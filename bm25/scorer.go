package bm25

import (
	"math"
	"slices"
)

// scorer is a term or a phrase over one segment.
type scorer struct {
	scale
	view    *view
	cursors []*cursor // one per distinct word
	rarest  *cursor
	matcher *phraseMatcher // nil for a term
	found   [][]uint32     // per distinct word, its positions in a chunk
}

// bind opens a planned scorer on a view; false when a word is not in it.
func (s *scratch) bind(p *plan, ps planScorer, i int, v *view) (*scorer, bool) {
	for _, w := range ps.words {
		if p.words[w].ids[i] < 0 {
			return nil, false
		}
	}
	out := &scorer{scale: scale{weight: ps.weight, inverse: v.inverse}, view: v}
	var distinct, order []int
	for _, w := range ps.words {
		at := slices.Index(distinct, w)
		if at < 0 {
			at = len(distinct)
			distinct = append(distinct, w)
			c := s.cursor()
			c.reset(v.seg, p.words[w].ids[i])
			out.cursors = append(out.cursors, c)
		}
		order = append(order, at)
	}
	out.rarest = slices.MinFunc(out.cursors, func(a, b *cursor) int { return int(a.df) - int(b.df) })
	if len(order) > 1 {
		out.matcher = newPhraseMatcher(order, ps.slop)
		out.found = make([][]uint32, len(distinct))
	}
	return out, true
}

// bound is the highest score in [lo, hi); ok is false when nothing can match.
func (s *scorer) bound(lo, hi uint32) (best float32, ok bool) {
	if s.matcher == nil {
		return s.rarest.bound(lo, hi, s.scale)
	}
	least, sum, norm := ^uint32(0), uint32(1), uint16(0)
	for i, c := range s.cursors {
		freq, shortest, ok := c.extremes(lo, hi)
		if !ok {
			return 0, false
		}
		least, norm = min(least, freq), max(norm, shortest)
		sum += (freq - 1) * s.matcher.uses(i)
	}
	if s.matcher.slop == 0 {
		return max(0, s.score(float32(least), norm)), true
	}
	return max(0, s.score(float32(sum), norm)), true // each match but one moves a place on
}

// freqIn is the frequency in a chunk, 0 when it does not match. Chunks are asked
// for in ascending order.
func (s *scorer) freqIn(ord uint32) float32 {
	if !s.rarest.find(ord) {
		return 0
	}
	if s.matcher == nil {
		return float32(s.rarest.freq())
	}
	for _, c := range s.cursors {
		if !c.find(ord) {
			return 0
		}
	}
	for i, c := range s.cursors {
		s.found[i] = c.appendPositions(s.found[i][:0])
	}
	return s.matcher.freq(s.found)
}

func (s *scorer) scoreOf(ord uint32, freq float32) float32 {
	return s.score(freq, s.view.seg.norms[ord])
}

// addTo adds a term's scores to the sums of a window.
func (s *scorer) addTo(w *window) {
	c, sc, norms := s.rarest, s.scale, s.view.seg.norms
	for c.seek(w.lo) {
		c.decode()
		c.count()
		from := lowerBound(&c.ordinals, w.lo)
		to := c.below(w.hi)
		if from >= to {
			return
		}
		freqs := c.freqs[from:to]
		for i, ord := range c.ordinals[from:to] {
			at := (ord - w.lo) & (windowSize - 1)
			w.sums[at] += float64(sc.score(float32(freqs[i]), norms[ord]))
			w.matched[at>>6] |= 1 << (at & 63)
		}
		if to < c.n {
			return
		}
		c.at++
	}
}

// addToCandidates adds a term's scores to those of the candidates that have it.
// A candidate that its block's limit and the rest cannot lift over the threshold
// is given up: its block need not be decoded.
func (s *scorer) addToCandidates(cs []candidate, rest, threshold float64) {
	c, sc, norms := s.rarest, s.scale, s.view.seg.norms
	known, limit := -1, 0.0 // the limit of the block known
	for i := range cs {
		cand := &cs[i]
		if !c.seek(cand.ord) {
			return
		}
		if known != c.at {
			known, limit = c.at, float64(c.seg.blocks[c.at].limit(sc))
		}
		if cand.sum+limit+rest <= threshold {
			cand.sum = math.Inf(-1)
			continue
		}
		if c.find(cand.ord) {
			cand.sum += float64(sc.score(float32(c.freq()), norms[cand.ord]))
			cand.count++
		}
	}
}

// offerTo keeps the scores of a window that are better than another alternative's.
func (s *scorer) offerTo(w *window) {
	for ord, ok := s.rarest.next(w.lo); ok && ord < w.hi; ord, ok = s.rarest.next(ord + 1) {
		if freq := s.freqIn(ord); freq > 0 {
			w.offer(ord, s.scoreOf(ord, freq))
		}
	}
}
