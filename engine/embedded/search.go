package embedded

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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

// search estimates rows first when there are at least so many.
func (e *Engine) search(ctx context.Context, req *engine.Request, narrowRows int) (*engine.Result, error) {
	b, s, err := e.snapshot(ctx, req.KB.Ref)
	if err != nil {
		return nil, err
	}
	if req.Sum != nil && len(req.Sum.Weights) != len(req.Legs) {
		return nil, fault.Invalid("sum.weights", len(req.Sum.Weights), fmt.Sprintf("one weight per leg, %d", len(req.Legs)))
	}
	f := filterer{snapshot: s, texts: b.texts}
	selected, err := f.run(&req.Filter)
	if err != nil {
		return nil, err
	}
	q := &search{ctx: ctx, snapshot: s, request: req, selected: selected, narrowRows: narrowRows}
	if err := q.open(b); err != nil {
		return nil, err
	}
	if req.Sum != nil {
		err = q.sum()
	} else {
		err = q.rank()
	}
	if err != nil {
		return nil, err
	}
	return q.result(), nil
}

// search is one search at work on one snapshot.
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
	field  int       // among the text or the vector fields
	unit   []float32 // nil for a zero vector, which has no cosine
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
		if l.Err = l.bind(b); l.Err != nil {
			failed++
			if first == nil {
				first = l.Err
			}
		}
	}
	if len(q.legs) == 0 {
		return fault.New(fault.InvalidArgument, "the request has no legs; it must have at least one")
	}
	if failed == len(q.legs) {
		return first
	}
	return nil
}

func (l *leg) bind(b *base) error {
	if l.K < 0 {
		return fault.Invalid(l.Name+".k", l.K, ">= 0")
	}
	if l.isText() {
		l.Method = "bm25"
		l.field = slices.Index(b.texts, l.Field)
		if l.field < 0 {
			return fault.Invalid(l.Name+".field", l.Field, oneOf("a text field", b.texts))
		}
		return nil
	}
	l.Method = "exact"
	l.field = slices.Index(b.table.vectors, l.Field)
	if l.field < 0 {
		return fault.Invalid(l.Name+".field", l.Field, oneOf("a vector field", b.table.vectors))
	}
	if err := checkVector(l.Name+".vector", l.Vector, b.kb.Dimensions); err != nil {
		return err
	}
	if l.unit = vector.Unit(l.Vector); l.unit != nil {
		l.query = vector.NewQuery(l.unit)
	}
	return nil
}

// checkVector wants dims finite numbers.
func checkVector(field string, v []float32, dims int) error {
	if len(v) != dims {
		return fault.Invalid(field, fmt.Sprintf("[%d]float32", len(v)), fmt.Sprintf("a vector of %d numbers", dims))
	}
	if i := slices.IndexFunc(v, notFinite); i >= 0 {
		return fault.Invalid(fmt.Sprintf("%s[%d]", field, i), v[i], "a finite number")
	}
	return nil
}

func oneOf(what string, names []string) string {
	if len(names) == 0 {
		return what + ", of which this knowledge base has none"
	}
	return what + ": " + strings.Join(names, ", ")
}

// rank runs the legs, each for its own best K, beside each other.
func (q *search) rank() error {
	var group errgroup.Group
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil {
			continue
		}
		group.Go(func() error {
			begun := time.Now()
			if l.isText() {
				l.ranked = q.rankText(l)
			} else {
				l.ranked = q.rankVector(l)
			}
			l.Took = time.Since(begun)
			return q.ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return sqlite.Fault(err, "searching")
	}
	q.merge()
	return nil
}

// rankText asks for one hit more than K: when it ties with the K-th, ids decide
// which of all the ties stay.
func (q *search) rankText(l *leg) []scored {
	index := q.snapshot.texts[l.field]
	best := newTop(l.K, index.Docs(), &q.snapshot.records)
	hits := index.Search(l.Text, min(l.K, index.Docs())+1, q.selected.accept())
	if l.K > 0 && len(hits) > l.K && hits[l.K].Score == hits[l.K-1].Score {
		index.ScoreAll(l.Text, func(row uint32, score float32) {
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

// near are the rows that may be among those of the K highest cosines.
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

// blockRows is how many rows are scored at once.
const blockRows = 256

// scorer appends those of at most blockRows ascending rows that take part, with
// their scores, to an empty block. It runs on several processors.
type scorer func(rows []uint32, block []scored) []scored

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

// merge makes the hits of all legs' rankings and completes their observations.
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

// fill makes a hit per row, with every leg's raw score and no ranks.
func (q *search) fill(rows []uint32, rawScores func(l *leg, rows []uint32, out []float64)) {
	q.hits = make([]engine.Hit, len(rows))
	observations := make([]scoring.Observation, len(rows)*len(q.legs))
	for i, row := range rows {
		r := q.snapshot.records.at(row)
		h := &q.hits[i]
		h.ID, h.DocumentID, h.DocumentName = r.id, r.documentID, r.documentName
		h.Observations = observations[i*len(q.legs) : (i+1)*len(q.legs) : (i+1)*len(q.legs)]
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
		for i, s := range q.snapshot.texts[l.field].Scores(l.Text, rows) {
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
