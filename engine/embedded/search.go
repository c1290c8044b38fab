package embedded

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
)

// Search implements engine.Searcher.
func (e *Engine) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	return e.search(ctx, req, narrowRows)
}

// search estimates rows first if there are at least narrowRows.
func (e *Engine) search(ctx context.Context, req *engine.Request, narrowRows int) (*engine.Result, error) {
	b, s, err := e.snapshot(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	if req.Sum != nil && len(req.Sum.Weights) != len(req.Legs) {
		return nil, fault.Invalid("sum.weights", len(req.Sum.Weights), fmt.Sprintf("one weight per leg, %d", len(req.Legs)))
	}
	f := filterer{snapshot: s, texts: b.texts}
	selected, err := f.run(ctx, &req.Filter)
	if err != nil {
		return nil, err
	}
	q := &search{ctx: ctx, snapshot: s, request: req, selected: selected, narrowRows: narrowRows}
	if err := q.open(b); err != nil {
		return nil, err
	}
	if req.Sum != nil {
		q.sum()
	} else {
		q.rank()
	}
	if err := ctx.Err(); err != nil { // the steps stopped early
		return nil, sqlite.Fault(err, "searching")
	}
	result := q.result()
	result.Damaged = b.damage.count()
	return result, nil
}

// search is one running search on one snapshot.
type search struct {
	ctx      context.Context
	snapshot *snapshot
	request  *engine.Request
	selected selection
	legs     []leg
	hits     []engine.Hit

	narrowRows int
}

// leg is one leg with the field it runs over.
type leg struct {
	*engine.Leg
	field  int           // among the text or the vector fields
	index  bm25.Searcher // of a text leg: its field, with its boosted parts
	unit   []float32     // nil for a zero vector, which has no cosine
	query  *vector.Query
	ranked []scored
	engine.LegOutcome
}

func (l *leg) isText() bool { return l.Text != nil }

// open finds each leg's field; it fails when no leg can run.
func (q *search) open(b *base) error {
	var first error
	failed := 0
	q.legs = make([]leg, len(q.request.Legs))
	for i := range q.legs {
		l := &q.legs[i]
		l.Leg = &q.request.Legs[i]
		l.Err = l.bind(b, q.snapshot)
		if stale := q.request.KB.CheckCurrent(&b.kb); stale != nil && !l.isText() {
			l.Err = stale
		}
		if l.Err != nil {
			failed++
			if first == nil {
				first = l.Err
			}
		}
	}
	if len(q.legs) == 0 && q.request.Sum == nil {
		return fault.New(fault.InvalidArgument, "the request has no legs; it must have at least one")
	}
	if failed < len(q.legs) {
		return nil
	}
	return first
}

func (l *leg) bind(b *base, s *snapshot) error {
	if l.K < 0 {
		return fault.Invalid(l.Name+".k", l.K, ">= 0")
	}
	if l.isText() {
		l.Method = "bm25"
		l.field = slices.Index(b.texts, l.Field)
		if l.field < 0 {
			return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a text field", b.texts))
		}
		if err := l.CheckBoosts(&b.kb); err != nil {
			return err
		}
		var parts []bm25.Part
		for _, boost := range l.Boosts {
			parts = append(parts, bm25.Part{Snapshot: s.texts[slices.Index(b.texts, boost.Part)], Boost: boost.By})
		}
		l.index = bm25.Boosted(s.texts[l.field], parts)
		return nil
	}
	l.Method = "exact"
	l.field = slices.Index(b.table.vectors, l.Field)
	if l.field < 0 {
		return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a vector field", b.table.vectors))
	}
	if err := engine.CheckVector(l.Name+".vector", l.Vector, b.kb.Dimensions); err != nil {
		return err
	}
	if l.unit = vector.Unit(l.Vector); l.unit != nil {
		l.query = vector.NewQuery(l.unit)
	}
	return nil
}

// rank runs the legs in parallel, each for its own best K.
func (q *search) rank() {
	var group sync.WaitGroup
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil {
			continue
		}
		group.Go(func() {
			begun := time.Now()
			if l.isText() {
				l.ranked = q.rankText(l)
			} else {
				l.ranked = q.rankVector(l)
			}
			l.Took = time.Since(begun)
		})
	}
	group.Wait()
	q.merge()
}

// rankText asks for one hit more than K: when it ties with the K-th, ids decide
// which of all the ties stay.
func (q *search) rankText(l *leg) []scored {
	best := newTop(l.K, l.index.Docs(), &q.snapshot.records)
	hits := l.index.Search(q.ctx, l.Text, min(l.K, l.index.Docs())+1, q.selected.accept())
	if l.K > 0 && len(hits) > l.K && hits[l.K].Score == hits[l.K-1].Score {
		l.index.ScoreAll(q.ctx, l.Text, func(row uint32, score float32) {
			if score >= hits[l.K].Score && q.selected.rows.Contains(row) {
				best.offer(row, float64(score))
			}
		})
		return best.sorted()
	}
	for _, h := range hits {
		best.offer(h.Key, float64(h.Score))
	}
	return best.sorted()
}

func (q *search) rankVector(l *leg) []scored {
	if l.unit == nil {
		return nil
	}
	field := &q.snapshot.vectors[l.field]
	rows := q.selected.list(q.snapshot)
	if q.narrows(l.K, rows) {
		rows = q.near(l, rows)
	}
	return q.best(l.K, rows, func(rows []uint32, block []scored) []scored {
		var room [blockRows]float32
		cosines := room[:len(rows)]
		field.cosines(rows, l.unit, cosines)
		for i, c := range cosines {
			if c == c { // not NaN
				block = append(block, scored{rows[i], float64(c)})
			}
		}
		return block
	})
}

// near returns the rows that may have one of the K highest cosines.
func (q *search) near(l *leg, rows []uint32) []uint32 {
	least, most := q.snapshot.borrow(), q.snapshot.borrow()
	defer least.release()
	defer most.release()
	return q.contenders(l.K, rows, parallelRows, func(rows []uint32, lows, highs []float32) {
		q.snapshot.vectors[l.field].limits(rows, l.query, least, most)
		copy(lows, least.of(rows, lows))
		copy(highs, most.of(rows, highs))
		for i, c := range lows {
			if c != c { // a row without a vector
				highs[i] = float32(math.Inf(-1))
			}
		}
	})
}

// best gives the k of the rows with the highest scores.
func (q *search) best(k int, rows []uint32, score scorer) []scored {
	parts := divided(rows, min(runtime.GOMAXPROCS(0), len(rows)/parallelRows))
	tops := make([]*top, len(parts))
	for i := range tops {
		tops[i] = newTop(k, len(rows), &q.snapshot.records)
	}
	eachPart(parts, func(part int, rows []uint32) {
		block := make([]scored, 0, blockRows)
		for rows := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller looks at it
			}
			for _, s := range score(rows, block) {
				tops[part].offer(s.row, s.score)
			}
		}
	})
	for _, t := range tops[1:] {
		for _, s := range t.kept {
			tops[0].offer(s.row, s.score)
		}
	}
	return tops[0].sorted()
}

// scorer appends the rows that take part, with their scores, to an empty block; rows
// ascend, at most blockRows. It runs on several processors.
type scorer func(rows []uint32, block []scored) []scored

// merge turns the rankings of all legs into hits and completes their observations.
func (q *search) merge() {
	position := map[uint32]int{}
	var rows []uint32
	for i := range q.legs {
		for _, s := range q.legs[i].ranked {
			if _, known := position[s.row]; !known {
				position[s.row] = len(rows)
				rows = append(rows, s.row)
			}
		}
	}
	q.fill(rows, q.rawScores)
	for i := range q.legs {
		for rank, s := range q.legs[i].ranked {
			q.hits[position[s.row]].Observations[i] = scoring.Observation{Rank: rank + 1, Raw: s.score}
		}
	}
}

// fill creates a hit per row, with every leg's raw score and no ranks.
func (q *search) fill(rows []uint32, rawScores func(l *leg, rows []uint32, out []float64)) {
	q.hits = make([]engine.Hit, len(rows))
	observations := make([]scoring.Observation, len(rows)*len(q.legs))
	for i, row := range rows {
		r := q.snapshot.records.at(row)
		h := &q.hits[i]
		h.ID, h.DocumentID, h.DocumentName = r.id, r.documentID, r.documentName
		h.Observations = observations[i*len(q.legs) : (i+1)*len(q.legs) : (i+1)*len(q.legs)]
		h.Signals = q.signalsOf(r)
		if len(q.request.Facets) > 0 {
			h.Facets = map[string][]string{}
			for _, field := range q.request.Facets {
				h.Facets[field] = r.facet(field)
			}
		}
	}
	scores := make([]float64, len(rows))
	for i := range q.legs {
		rawScores(&q.legs[i], rows, scores)
		for j, raw := range scores {
			q.hits[j].Observations[i].Raw = raw
		}
	}
}

// rawScores writes a leg's score of each row; NaN where it has none.
func (q *search) rawScores(l *leg, rows []uint32, out []float64) {
	switch {
	case l.Err != nil || !l.isText() && l.unit == nil:
		for i := range out {
			out[i] = math.NaN()
		}
	case l.isText():
		for i, s := range l.index.Scores(q.ctx, l.Text, rows) {
			out[i] = float64(s)
		}
	default:
		for i, row := range rows {
			out[i] = float64(q.snapshot.vectors[l.field].cosine(row, l.unit))
		}
	}
}

func (q *search) result() *engine.Result {
	r := &engine.Result{Hits: q.hits, Legs: make([]engine.LegOutcome, len(q.legs)), Method: "exact"}
	for i := range q.legs {
		r.Legs[i] = q.legs[i].LegOutcome
	}
	return r
}
