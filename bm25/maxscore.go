package bm25

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// evaluator runs a plan over one segment.
type evaluator struct {
	ctx     context.Context // looked at between groups, a few thousand chunks each
	view    *view
	groups  []*group // terms, then phrases
	phrases bool     // whether there are any
	need    int      // terms that must match

	window     *window // nil where no range of chunks is scored
	candidates []candidate
	active     []*group // those that can match in the window
}

// newEvaluator binds a plan to the i-th view; nil when nothing in it can match.
func newEvaluator(ctx context.Context, p *plan, i int, v *view, w *window) *evaluator {
	e := &evaluator{ctx: ctx, view: v, need: p.need, window: w}
	e.groups = bindGroups(p, p.groups, i, v)
	if len(e.groups) < e.need {
		return nil
	}
	terms := len(e.groups)
	for _, g := range bindGroups(p, p.phrases, i, v) {
		g.phrase = true
		e.groups = append(e.groups, g)
	}
	e.phrases = len(e.groups) > terms
	if w != nil {
		w.counting, w.enough = e.need > 1, 0
	}
	return e
}

// bindGroups leaves out those of which no alternative is in the segment.
func bindGroups(p *plan, planned []planGroup, i int, v *view) []*group {
	var bound []*group
	for _, pg := range planned {
		g := &group{}
		for _, ps := range pg {
			if sc, ok := bindScorer(p, ps, i, v); ok {
				g.alternatives = append(g.alternatives, sc)
			}
		}
		if len(g.alternatives) > 0 {
			bound = append(bound, g)
		}
	}
	return bound
}

// size is the number of ordinals of the segment.
func (e *evaluator) size() uint32 { return uint32(len(e.view.seg.keys)) }

// search offers the chunks that can be among the best to top. It is MaxScore
// (Turtle and Flood 1995) by windows as in Lucene's MaxScoreBulkScorer, with
// limits from the blocks in each window: groups that together cannot reach the
// threshold are optional, and only asked about chunks that another group found.
func (e *evaluator) search(top *topK, accept func(uint32) bool) {
	span := uint32(firstWindow)
	for lo, hi := uint32(0), uint32(0); lo < e.size(); lo = hi {
		hi = min(lo+span, e.size())
		span = min(2*span, windowSize)
		optional, essential := e.split(lo, hi, top.threshold())
		if len(essential) == 0 {
			continue
		}
		e.window.lo, e.window.hi = lo, hi
		if !e.fill(essential) {
			return
		}
		rest := e.limits(optional)
		e.gather(bar{rest[0], top.threshold()})
		e.complete(optional, rest, top.threshold())
		e.offer(top, accept)
	}
}

// fill scores the window by the groups; false when the context has ended.
func (e *evaluator) fill(groups []*group) bool {
	for _, g := range groups {
		if e.ctx.Err() != nil {
			return false
		}
		g.fill(e.window)
	}
	return true
}

// split sorts the groups that can match in the window by their limit and cuts
// them: a chunk that only optional groups match cannot reach the threshold, or
// not the number of terms needed.
func (e *evaluator) split(lo, hi uint32, threshold float64) (optional, essential []*group) {
	e.active = e.active[:0]
	terms := 0
	for _, g := range e.groups {
		if g.enter(lo, hi) {
			e.active = append(e.active, g)
			terms += g.counts()
		}
	}
	if terms < e.need {
		return nil, nil
	}
	slices.SortFunc(e.active, func(a, b *group) int { return cmp.Compare(a.limit, b.limit) })
	sum, passed := 0.0, 0
	for cut, g := range e.active {
		sum += g.limit
		passed += g.counts()
		if sum > threshold && passed >= e.need {
			return e.active[:cut], e.active[cut:]
		}
	}
	return e.active, nil
}

// limits gives, for each optional group from the highest down, the most that it
// and all after it can add.
func (e *evaluator) limits(optional []*group) []float64 {
	slices.Reverse(optional)
	n := len(optional)
	rest := make([]float64, n+1)
	for i := n - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + optional[i].limit
	}
	return rest
}

// gather empties the window into candidates that are alive and reach the bar.
func (e *evaluator) gather(to bar) {
	e.candidates = e.candidates[:0]
	e.window.drain(func(ord uint32, sum float64, count uint16) {
		if to.reachedBy(sum) && e.view.isLive(ord) {
			e.candidates = append(e.candidates, candidate{sum: sum, ord: ord, count: count})
		}
	})
}

// complete asks the optional groups about the candidates, before each dropping
// those that can no longer reach the threshold.
func (e *evaluator) complete(optional []*group, rest []float64, threshold float64) {
	for i, g := range optional {
		if i > 0 {
			e.keep(func(c *candidate) bool { return bar{rest[i], threshold}.reachedBy(c.sum) })
		}
		g.probe(e.candidates, bar{rest[i+1], threshold}, e.window)
	}
	e.keepMatching()
}

// keepMatching drops candidates that too few terms match.
func (e *evaluator) keepMatching() {
	if e.need == 1 && !e.phrases {
		return // a candidate has a term
	}
	e.keep(func(c *candidate) bool { return int(c.count) >= e.need })
}

func (e *evaluator) keep(wanted func(*candidate) bool) {
	kept := e.candidates[:0]
	for i := range e.candidates {
		if wanted(&e.candidates[i]) {
			kept = append(kept, e.candidates[i])
		}
	}
	e.candidates = kept
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

// all calls each for every live chunk that matches. It looks for a phrase only in chunks
// that match enough terms.
func (e *evaluator) all(each func(key uint32, score float32)) {
	keys := e.view.seg.keys
	if e.window.counting {
		e.window.enough = uint16(min(e.need, math.MaxUint16))
	}
	for lo := uint32(0); lo < e.size(); lo += windowSize {
		e.window.lo, e.window.hi = lo, min(lo+windowSize, e.size())
		if !e.fill(e.groups) {
			return
		}
		e.window.drain(func(ord uint32, sum float64, count uint16) {
			if int(count) >= e.need && e.view.isLive(ord) {
				each(keys[ord], float32(sum))
			}
		})
	}
}
