package bm25

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/textquery"
)

// Combined searches a field of which parts count more: by BM25F (Robertson, Zaragoza and Taylor,
// "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004) as Lucene's CombinedFieldQuery
// has it. Of a term with the frequency f in the whole text and fₚ in a part that is boosted bₚ
// times, f + Σ (bₚ − 1)·fₚ is scored, and lengths likewise; document frequencies are those of the
// whole text. Phrases are of the whole text and not boosted. It may be used by many at once.
//
// It looks at every chunk that has a term: nothing is skipped.
type Combined struct {
	Whole *Snapshot
	Parts []Part
}

// Searcher is asked text queries: a Snapshot, or a Combined.
type Searcher interface {
	Docs() int
	Search(ctx context.Context, q *textquery.Query, k int, accept func(key uint32) bool) []Hit
	ScoreAll(ctx context.Context, q *textquery.Query, each func(key uint32, score float32))
	Scores(ctx context.Context, q *textquery.Query, keys []uint32) []float32
}

var (
	_ Searcher = (*Snapshot)(nil)
	_ Searcher = (*Combined)(nil)
)

// Boosted is the whole with parts that count more, or as it is where there are none.
func Boosted(whole *Snapshot, parts []Part) Searcher {
	if len(parts) == 0 {
		return whole
	}
	return &Combined{Whole: whole, Parts: parts}
}

// Part is the index of a part of the text. Its chunks have the keys that they have in the whole.
type Part struct {
	*Snapshot
	Boost float64 // from 1
}

// Docs is Snapshot.Docs.
func (c *Combined) Docs() int { return c.Whole.Docs() }

// Search is Snapshot.Search.
func (c *Combined) Search(ctx context.Context, q *textquery.Query, k int, accept func(key uint32) bool) []Hit {
	if k <= 0 {
		return nil
	}
	top := &topK{k: k, heap: make([]Hit, 0, min(k, c.Whole.live))}
	c.ScoreAll(ctx, q, func(key uint32, score float32) {
		if accept == nil || accept(key) {
			top.push(Hit{key, score})
		}
	})
	return top.sorted()
}

// Scores is Snapshot.Scores.
func (c *Combined) Scores(ctx context.Context, q *textquery.Query, keys []uint32) []float32 {
	places := make(map[uint32][]int, len(keys))
	for i, key := range keys {
		places[key] = append(places[key], i)
	}
	out := make([]float32, len(keys))
	c.ScoreAll(ctx, q, func(key uint32, score float32) {
		for _, i := range places[key] {
			out[i] = score
		}
	})
	return out
}

// ScoreAll is Snapshot.ScoreAll.
func (c *Combined) ScoreAll(ctx context.Context, q *textquery.Query, each func(key uint32, score float32)) {
	p := c.Whole.plan(q)
	if p.need > len(p.groups) {
		return
	}
	average := c.average()
	if l := q.Lengths; l != nil && l.Average > 0 && c.Whole.avg > 0 {
		average *= float32(l.Average) / c.Whole.avg
	}
	lengths := lengthsOf{combined: c, average: average, inverse: map[uint32]float32{}}
	extras := make([]map[uint32]float32, len(p.words)) // by word, then key
	for i, v := range c.Whole.views {
		if ctx.Err() != nil {
			return
		}
		s := combinedView{
			combined: c, plan: p, view: v, lengths: &lengths, extras: extras,
			sums: make([]float64, len(v.seg.keys)), counts: make([]int, len(v.seg.keys)), best: make([]float32, len(v.seg.keys)),
		}
		for j := range s.best {
			s.best[j] = unmatched
		}
		for _, g := range p.groups {
			s.add(i, g, 0)
		}
		for _, g := range p.phrases {
			s.add(i, g, p.need)
		}
		for ord, count := range s.counts {
			if count >= p.need && v.isLive(uint32(ord)) { //nolint:gosec // an ordinal
				each(v.seg.keys[ord], float32(s.sums[ord]))
			}
		}
	}
}

// average is the mean length of the live chunks, each part as often as it is boosted.
func (c *Combined) average() float32 {
	if c.Whole.docs == 0 {
		return 0
	}
	tokens := c.Whole.tokens()
	for _, part := range c.Parts {
		tokens += (part.Boost - 1) * part.tokens()
	}
	return float32(math.Floor(tokens) / float64(c.Whole.docs)) // Lucene counts whole tokens
}

// tokens are those of the live chunks.
func (s *Snapshot) tokens() float64 { return math.Round(float64(s.avg) * float64(s.docs)) }

// lengthsOf are the inverse norms of chunks.
type lengthsOf struct {
	combined *Combined
	average  float32
	inverse  map[uint32]float32 // by effective length
}

func (l *lengthsOf) of(v *view, ord uint32) float32 {
	key, length := v.seg.keys[ord], float32(v.seg.eff[v.seg.norms[ord]])
	for _, part := range l.combined.Parts {
		if i, at, ok := locate(part.views, key); ok {
			seg := part.views[i].seg
			length += float32(part.Boost-1) * float32(seg.eff[seg.norms[at]])
		}
	}
	o := l.combined.Whole.opts
	effective := o.Variant.effectiveLength(uint32(math.Round(float64(length))))
	inverse, known := l.inverse[effective]
	if !known {
		inverse = inverseNorm(o, effective, l.average)
		l.inverse[effective] = inverse
	}
	return inverse
}

// extra is what the parts add to the frequency of a word, by key.
func (c *Combined) extra(text string) map[uint32]float32 {
	more := map[uint32]float32{}
	for _, part := range c.Parts {
		for _, v := range part.views {
			id := v.seg.dict.find(text)
			if id < 0 {
				continue
			}
			cur := newCursor(v.seg, id)
			for ord, ok := cur.next(0); ok; ord, ok = cur.step() {
				if v.isLive(ord) {
					more[v.seg.keys[ord]] += float32(part.Boost-1) * float32(cur.freq())
				}
			}
		}
	}
	return more
}

// combinedView scores the chunks of one segment of the whole text.
type combinedView struct {
	combined *Combined
	plan     *plan
	view     *view
	lengths  *lengthsOf
	extras   []map[uint32]float32
	sums     []float64
	counts   []int
	best     []float32 // of the group's alternatives; unmatched for all between groups
	touched  []uint32
}

const unmatched = -1

// add adds the best alternative of a group; with enough, that of a phrase, to chunks that so many
// groups match.
func (s *combinedView) add(of int, g planGroup, enough int) {
	s.touched = s.touched[:0]
	for _, ps := range g {
		sc, ok := bindScorer(s.plan, ps, of, s.view)
		if !ok {
			continue
		}
		var extra map[uint32]float32
		if len(ps.words) == 1 {
			w := ps.words[0]
			if s.extras[w] == nil {
				s.extras[w] = s.combined.extra(s.plan.words[w].text)
			}
			extra = s.extras[w]
		}
		for ord, ok := sc.rarest.next(0); ok; ord, ok = sc.rarest.step() {
			if s.counts[ord] < enough {
				continue
			}
			freq := sc.freqHere(ord)
			if freq <= 0 {
				continue
			}
			score := s.score(sc, ord, freq, extra)
			if s.best[ord] == unmatched {
				s.touched = append(s.touched, ord)
			}
			s.best[ord] = max(s.best[ord], score)
		}
	}
	for _, ord := range s.touched {
		s.sums[ord] += float64(s.best[ord])
		if enough == 0 {
			s.counts[ord]++
		}
		s.best[ord] = unmatched
	}
}

func (s *combinedView) score(sc *scorer, ord uint32, freq float32, extra map[uint32]float32) float32 {
	if extra == nil { // a phrase
		return sc.scoreOf(ord, freq)
	}
	freq += extra[s.view.seg.keys[ord]]
	return sc.weight - sc.weight/(1+float32(freq*s.lengths.of(s.view, ord)))
}
