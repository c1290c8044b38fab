package elastic

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
)

// ranking is the answer to a search by legs. The texts of its hits are in the
// memory of the response: they are gone when it is released.
type ranking struct {
	answer
	page *contents // that came along
}

// search runs one _search by the legs of a plan that has to be answered whole.
func (p *plan) search(ctx context.Context, e *Engine, s statement) (*ranking, error) {
	return p.searchPage(ctx, e, s, nil)
}

// searchPage is a search that brings the chunks to show along, into page.
func (p *plan) searchPage(ctx context.Context, e *Engine, s statement, page *contents) (*ranking, error) {
	found := &ranking{answer: answer{ranked: takeRanked(p)}, page: page}
	if page != nil {
		found.aggs = sumPage{page}
	}
	if err := e.do(ctx, s.with(searchFilter).inSmile(), found); err != nil {
		return nil, err
	}
	return found, found.err()
}

// release gives all memory to a next search. An answer that is not released is left
// to the garbage collector.
func (a *ranking) release() {
	a.ranked.release()
	if a.page != nil {
		a.page.release()
	}
}

// rankings are the answers to an _msearch by the legs of a plan.
type rankings struct {
	p       *plan
	answers []answer
	page    *contents // reads the last answer, where it is set
}

// read implements readable.
func (a *rankings) read(r reader) {
	a.answers = make([]answer, 0, len(a.p.legs))
	for r.object(); r.more(); {
		if r.name() != "responses" {
			r.skip()
			continue
		}
		for r.array(); r.more(); {
			if a.page != nil && len(a.answers) > 0 {
				a.page.read(r)
				continue
			}
			a.answers = append(a.answers, answer{ranked: takeRanked(a.p)})
			a.answers[len(a.answers)-1].read(r)
		}
	}
}

func (a *rankings) release() {
	for i := range a.answers {
		a.answers[i].ranked.release()
	}
	if a.page != nil {
		a.page.release()
	}
}

// rankedHits are the hits of an answer to the legs of a plan: chunks and what they
// score. Other than answerHits they are small, and used again: a search has a
// thousand.
type rankedHits struct {
	p      *plan
	hits   []engine.Hit // without observations
	scores []float32    // of each
	// points are those of the legs' named clauses, [hit][leg]; NaN: it does not match.
	points []float32

	meanings meanings
	lists    hitLists // of one hit
}

// unmatched are the points of a clause that a hit does not match.
var unmatched = float32(math.NaN())

var spareRanked = sync.Pool{New: func() any { return new(rankedHits) }}

func takeRanked(p *plan) *rankedHits {
	h := spareRanked.Get().(*rankedHits)
	h.p = p
	h.clear()
	return h
}

func (h *rankedHits) release() {
	h.p = nil
	spareRanked.Put(h)
}

func (h *rankedHits) clear() {
	h.hits, h.scores, h.points = h.hits[:0], h.scores[:0], h.points[:0]
	h.meanings.begin(h.p)
}

// keep forgets all but the first n.
func (h *rankedHits) keep(n int) {
	h.hits, h.scores, h.points = h.hits[:n], h.scores[:n], h.points[:n*len(h.p.legs)]
}

// add reads one hit more.
func (h *rankedHits) add(r reader) {
	n, legs := len(h.hits), len(h.p.legs)
	if n == cap(h.hits) || n == cap(h.scores) || (n+1)*legs > cap(h.points) {
		h.hits, h.scores, h.points = slices.Grow(h.hits, 1), slices.Grow(h.scores, 1), slices.Grow(h.points, legs)
	}
	h.hits, h.scores, h.points = h.hits[:n+1], h.scores[:n+1], h.points[:(n+1)*legs]
	points := h.points[n*legs:]
	for i := range points {
		points[i] = unmatched
	}
	if s, ok := r.(*smileReader); !ok || !h.readPlain(s, &h.hits[n], &h.scores[n], points) {
		h.read(r, &h.hits[n], points)
	}
}

// read reads any hit into the last of the list.
func (h *rankedHits) read(r reader, hit *engine.Hit, points []float32) {
	var read answerHit
	h.lists.values, h.lists.scores = h.lists.values[:0], h.lists.scores[:0]
	h.lists.read(r, &read)
	h.scores[len(h.scores)-1] = read.Score
	*hit = engine.Hit{}
	h.p.fill(hit, &read)
	for i := range points {
		points[i] = unmatched
		if score, matched := read.matched(h.p.legs[i].name); matched {
			points[i] = score
		}
	}
}

// matched gives the score of a leg's clause, if the hit matches it.
func (h *rankedHits) matched(hit, leg int) (score float32, matched bool) {
	score = h.points[hit*len(h.p.legs)+leg]
	return score, !math.IsNaN(float64(score))
}
