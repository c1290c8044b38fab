package bm25

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/textquery"
)

// Search gives the best k chunks that match and that accept allows (nil allows
// all), by score and then by key. The answer is exact; chunks that cannot be in
// it are skipped unseen. When ctx ends, what Search and the others have by then is all
// that they give: callers look at ctx.
func (s *Snapshot) Search(ctx context.Context, q *textquery.Query, k int, accept func(key uint32) bool) []Hit {
	if k <= 0 {
		return nil
	}
	top := &topK{k: k, heap: make([]Hit, 0, min(k, s.live))}
	s.run(ctx, s.plan(q), new(window), func(e *evaluator) { e.search(top, accept) })
	return top.sorted()
}

// ScoreAll calls each for every live chunk that matches, in ascending order of
// keys.
func (s *Snapshot) ScoreAll(ctx context.Context, q *textquery.Query, each func(key uint32, score float32)) {
	s.run(ctx, s.plan(q), new(window), func(e *evaluator) { e.all(each) })
}

// Scores gives the score of each key, in any order; 0 where it does not match or
// is not alive.
func (s *Snapshot) Scores(ctx context.Context, q *textquery.Query, keys []uint32) []float32 {
	out := make([]float32, len(keys))
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	s.run(ctx, s.plan(q), nil, func(e *evaluator) {
		var asked []int
		for _, i := range order {
			if ord, ok := e.view.seg.ordinal(keys[i]); ok && e.view.isLive(ord) {
				e.candidates = append(e.candidates, candidate{ord: ord})
				asked = append(asked, i)
			}
		}
		for _, g := range e.groups {
			if e.ctx.Err() != nil {
				return
			}
			g.probe(e.candidates, noBar, nil)
		}
		for j, c := range e.candidates {
			if int(c.count) >= e.need {
				out[asked[j]] = float32(c.sum)
			}
		}
	})
	return out
}

// Match gives the keys of the live chunks that contain the phrase within its
// slop, or the term when the phrase has one token.
func (s *Snapshot) Match(ctx context.Context, p textquery.Phrase) *roaring.Bitmap {
	out := roaring.New()
	pl := s.plan(nil)
	p.Weight = 1
	g := s.addScorer(pl, nil, p)
	if len(g) == 0 {
		return out
	}
	pl.groups = []planGroup{g}
	s.run(ctx, pl, nil, func(e *evaluator) {
		sc := e.groups[0].alternatives[0]
		seen := 0
		for ord, ok := sc.rarest.next(0); ok; ord, ok = sc.rarest.step() {
			if seen++; seen%windowSize == 0 && ctx.Err() != nil {
				return
			}
			if e.view.isLive(ord) && sc.freqHere(ord) > 0 {
				out.Add(e.view.seg.keys[ord])
			}
		}
	})
	return out
}

// run calls f for every segment in which the plan can match.
func (s *Snapshot) run(ctx context.Context, p *plan, w *window, f func(*evaluator)) {
	if p.need > len(p.groups) {
		return
	}
	for i, v := range s.views {
		if ctx.Err() != nil {
			return
		}
		if e := newEvaluator(ctx, p, i, v, w); e != nil {
			f(e)
		}
	}
}
