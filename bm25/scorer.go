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

// bindScorer opens a planned scorer on the i-th view; false when a word is not in it.
func bindScorer(p *plan, ps planScorer, i int, v *view) (*scorer, bool) {
	s := &scorer{scale: scale{weight: ps.weight, inverse: p.inverseOf(i, v)}, view: v}
	var distinct, order []int // words, and by position which of them
	for _, w := range ps.words {
		term := p.words[w].ids[i]
		if term < 0 {
			return nil, false
		}
		at := slices.Index(distinct, w)
		if at < 0 {
			at = len(distinct)
			distinct = append(distinct, w)
			s.cursors = append(s.cursors, newCursor(v.seg, term))
		}
		order = append(order, at)
	}
	s.rarest = slices.MinFunc(s.cursors, func(a, b *cursor) int { return int(a.df) - int(b.df) })
	if len(order) > 1 {
		s.matcher = newPhraseMatcher(order, ps.slop)
		s.found = make([][]uint32, len(distinct))
	}
	return s, true
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
	return s.freqHere(ord)
}

// freqHere is freqIn for the chunk that the rarest word is at.
func (s *scorer) freqHere(ord uint32) float32 {
	if s.matcher == nil {
		return float32(s.rarest.freq())
	}
	for _, c := range s.cursors {
		if c != s.rarest && !c.find(ord) {
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
	sc, norms := s.scale, s.view.seg.norms
	s.eachRun(w, func(ordinals, freqs []uint32) {
		for i, ord := range ordinals {
			at := (ord - w.lo) & (windowSize - 1)
			w.sums[at] += float64(sc.score(float32(freqs[i]), norms[ord]))
			w.matched[at>>6] |= 1 << (at & 63)
		}
		if w.counting {
			w.count(ordinals)
		}
	})
}

// addToCandidates adds a term's scores to those of the candidates that have it.
// A candidate that its block's limit cannot lift over the bar is given up: its
// block need not be decoded.
func (s *scorer) addToCandidates(cs []candidate, to bar) {
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
		if !to.reachedBy(cand.sum + limit) {
			cand.sum = math.Inf(-1)
			continue
		}
		if c.find(cand.ord) {
			cand.sum += float64(sc.score(float32(c.freq()), norms[cand.ord]))
			cand.count++
		}
	}
}

// denser is how many postings a window may hold for each candidate of it before
// it is faster to look for the candidates one by one.
const denser = 12

// isDense reports whether a term is better spread over the window than probed.
func (s *scorer) isDense(w *window, candidates int) bool {
	expected := uint64(s.rarest.df) * uint64(w.hi-w.lo) / uint64(len(s.view.seg.keys))
	return uint64(candidates)*denser > expected
}

// spreadToCandidates is addToCandidates for many candidates in one window: it
// spreads the frequencies over the window and picks out those of the candidates.
func (s *scorer) spreadToCandidates(cs []candidate, w *window) {
	freqs := &w.best
	clear(freqs[:w.hi-w.lo])
	s.eachRun(w, func(ordinals, counts []uint32) {
		for i, ord := range ordinals {
			freqs[(ord-w.lo)&(windowSize-1)] = float32(counts[i])
		}
	})
	sc, norms := s.scale, s.view.seg.norms
	for i := range cs {
		cand := &cs[i]
		if freq := freqs[(cand.ord-w.lo)&(windowSize-1)]; freq > 0 {
			cand.sum += float64(sc.score(freq, norms[cand.ord]))
			cand.count++
		}
	}
}

// eachRun gives the term's postings in the window, block by block.
func (s *scorer) eachRun(w *window, f func(ordinals, freqs []uint32)) {
	c := s.rarest
	for c.seek(w.lo) {
		c.decode()
		from, to := lowerBound(&c.ordinals, w.lo), c.below(w.hi)
		if from >= to {
			return
		}
		c.count()
		f(c.ordinals[from:to], c.freqs[from:to])
		if to < c.n {
			return
		}
		c.at++
	}
}

// offerTo offers the window the scores of the chunks that enough groups match; the best
// alternative counts.
func (s *scorer) offerTo(w *window, enough uint16) {
	for ord, ok := s.rarest.next(w.lo); ok && ord < w.hi; ord, ok = s.rarest.step() {
		if w.counts[(ord-w.lo)&(windowSize-1)] < enough {
			continue
		}
		if freq := s.freqHere(ord); freq > 0 {
			w.offer(ord, s.scoreOf(ord, freq))
		}
	}
}
