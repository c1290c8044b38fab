package bm25

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// scratch is the memory of one search, reused by later ones.
type scratch struct {
	window     window
	candidates []candidate
	cursors    []*cursor
	used       int // cursors in use
	active     []*group
	suffix     []float64
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// cursor hands out a cursor that lasts until the next release.
func (s *scratch) cursor() *cursor {
	if s.used == len(s.cursors) {
		s.cursors = append(s.cursors, new(cursor))
	}
	s.used++
	return s.cursors[s.used-1]
}

// maxIdleCursors bounds what a pooled scratch keeps (1 KB each).
const maxIdleCursors = 256

// release gives the scratch back, without references to any segment.
func (s *scratch) release() {
	s.used = 0
	clear(s.active[:cap(s.active)])
	s.cursors = slices.Delete(s.cursors, min(len(s.cursors), maxIdleCursors), len(s.cursors))
	for _, c := range s.cursors {
		c.seg = nil
	}
	if cap(s.candidates) > 4*windowSize {
		s.candidates = nil
	}
	scratchPool.Put(s)
}

// evaluator runs a plan over one segment.
type evaluator struct {
	*scratch
	view    *view
	groups  []*group
	phrases []*group
	need    int
}

// open binds a plan to the i-th view; false when nothing in it can match.
func (s *scratch) open(p *plan, i int, v *view) (*evaluator, bool) {
	s.used = 0
	e := &evaluator{scratch: s, view: v, need: p.need}
	e.groups = s.bindGroups(p, p.groups, i, v)
	if len(e.groups) < e.need {
		return nil, false
	}
	e.phrases = s.bindGroups(p, p.phrases, i, v)
	s.window.counting = e.need > 1
	return e, true
}

func (s *scratch) bindGroups(p *plan, planned []planGroup, i int, v *view) []*group {
	var out []*group
	for _, pg := range planned {
		g := &group{}
		for _, ps := range pg {
			if sc, ok := s.bind(p, ps, i, v); ok {
				g.alternatives = append(g.alternatives, sc)
			}
		}
		if len(g.alternatives) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// size is the number of ordinals of the segment.
func (e *evaluator) size() uint32 { return uint32(len(e.view.seg.keys)) }

// search offers the chunks that can be among the best to top. It is MaxScore
// (Turtle and Flood 1995) by windows as in Lucene's MaxScoreBulkScorer, with
// limits from the blocks in each window: groups that together cannot reach the
// threshold are optional, and only asked about chunks that another group found.
func (e *evaluator) search(top *topK, accept func(uint32) bool) {
	for lo := uint32(0); lo < e.size(); lo += windowSize {
		hi := min(lo+windowSize, e.size())
		optional, essential := e.split(lo, hi, top.threshold())
		if len(essential) == 0 {
			continue
		}
		e.window.lo, e.window.hi = lo, hi
		for _, g := range essential {
			g.fill(&e.window)
		}
		rest := e.limits(optional)
		e.gather(rest[0], top.threshold())
		e.complete(optional, rest, top)
		e.offer(top, accept)
	}
}

// split sorts the groups that can match in the window by their limit and cuts
// them: a chunk that only optional groups match cannot reach the threshold, or
// not the number of groups needed.
func (e *evaluator) split(lo, hi uint32, threshold float64) (optional, essential []*group) {
	e.active = e.active[:0]
	for _, g := range e.groups {
		if g.enter(lo, hi) {
			e.active = append(e.active, g)
		}
	}
	if len(e.active) < e.need {
		return nil, nil
	}
	slices.SortFunc(e.active, func(a, b *group) int { return cmp.Compare(a.limit, b.limit) })
	sum := 0.0
	for _, g := range e.phrases {
		g.enter(lo, hi)
		sum += g.limit
	}
	cut := 0
	for cut < len(e.active) {
		sum += e.active[cut].limit
		if sum > threshold && cut >= e.need-1 {
			break
		}
		cut++
	}
	return e.active[:cut], e.active[cut:]
}

// limits gives, for each optional group from the highest down and then each
// phrase, the most that it and all after it can add.
func (e *evaluator) limits(optional []*group) []float64 {
	slices.Reverse(optional)
	n := len(optional) + len(e.phrases)
	e.suffix = append(e.suffix[:0], make([]float64, n+1)...)
	for i := n - 1; i >= 0; i-- {
		e.suffix[i] = e.suffix[i+1] + e.probed(optional, i).limit
	}
	return e.suffix
}

// probed is the i-th group of those asked about candidates.
func (e *evaluator) probed(optional []*group, i int) *group {
	if i < len(optional) {
		return optional[i]
	}
	return e.phrases[i-len(optional)]
}

// gather empties the window into candidates that are alive and, with the rest
// added, above the threshold.
func (e *evaluator) gather(rest, threshold float64) {
	e.candidates = e.candidates[:0]
	e.window.drain(func(ord uint32, sum float64, count uint16) {
		if sum+rest > threshold && e.view.isLive(ord) {
			e.candidates = append(e.candidates, candidate{sum: sum, ord: ord, count: count})
		}
	})
}

// complete asks the optional groups and the phrases about the candidates, after
// each dropping those that can no longer reach the threshold.
func (e *evaluator) complete(optional []*group, rest []float64, top *topK) {
	threshold := top.threshold()
	for i := range len(rest) - 1 {
		if i == len(optional) {
			e.keepMatching()
		}
		e.candidates = slices.DeleteFunc(e.candidates, func(c candidate) bool {
			return c.sum+rest[i] <= threshold
		})
		e.probed(optional, i).probe(e.candidates)
	}
	if len(e.phrases) == 0 {
		e.keepMatching()
	}
}

// keepMatching drops candidates that too few groups match.
func (e *evaluator) keepMatching() {
	if e.need > 1 {
		e.candidates = slices.DeleteFunc(e.candidates, func(c candidate) bool {
			return int(c.count) < e.need
		})
	}
}

func (e *evaluator) offer(top *topK, accept func(uint32) bool) {
	for _, c := range e.candidates {
		if c.sum <= top.threshold() {
			continue
		}
		if key := e.view.seg.keys[c.ord]; accept == nil || accept(key) {
			top.push(Hit{Key: key, Score: float32(c.sum)})
		}
	}
}

// everything fills the candidates with every live chunk of a window that matches.
func (e *evaluator) everything(lo uint32) {
	e.window.lo, e.window.hi = lo, min(lo+windowSize, e.size())
	for _, g := range e.groups {
		g.fill(&e.window)
	}
	e.gather(0, math.Inf(-1))
	e.keepMatching()
	for _, g := range e.phrases {
		g.probe(e.candidates)
	}
}
