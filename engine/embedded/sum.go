package embedded

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/sqlite"
)

// sum ranks by the weighted sum of all legs' points: the legs score their rows at
// the same time, then one pass adds up.
func (q *search) sum() error {
	s := newSummer(q)
	defer s.release()
	if err := s.run(q); err != nil {
		return sqlite.Fault(err, "searching")
	}
	best := q.best(q.request.Sum.Candidates, s.score)
	if err := q.ctx.Err(); err != nil {
		return sqlite.Fault(err, "searching")
	}
	rows := make([]uint32, len(best))
	for i, b := range best {
		rows[i] = b.row
	}
	q.fill(rows, s.rawScores)
	for i := range q.legs {
		rankAmong(q.hits, i, q.legs[i].isText())
	}
	return nil
}

// summer adds up the points of rows.
type summer struct {
	texts    []points
	vectors  []points // that add something
	byVector bool     // there is a vector leg, for which every row takes part
	required bool     // there is a text leg that every row must match
	pivot    float64
}

// points are a leg's raw scores by row: of a text 0 where it does not match, of a
// vector NaN where there is no cosine.
type points struct {
	leg    *leg
	weight float64
	first  uint32 // the row of scores[0]
	scores *[]float32
}

func (p *points) raw(row uint32) float64 { return float64((*p.scores)[row-p.first]) }

// newSummer takes in the legs that can run.
func newSummer(q *search) *summer {
	s := &summer{pivot: q.request.Sum.Pivot}
	first, size := uint32(0), 0
	if live := q.snapshot.live; !live.IsEmpty() {
		first = live.Minimum()
		size = int(live.Maximum()-first) + 1
	}
	for i := range q.legs {
		l, weight := &q.legs[i], q.request.Sum.Weights[i]
		switch {
		case l.Err != nil:
		case l.isText():
			s.texts = append(s.texts, points{l, weight, first, borrow(size)})
			s.required = s.required || l.Required
		default:
			s.byVector = true
			if l.unit != nil && weight != 0 {
				s.vectors = append(s.vectors, points{l, weight, first, borrow(size)})
			}
		}
	}
	return s
}

// run scores the rows. Where a text must match, the vectors of other rows are not
// looked at.
func (s *summer) run(q *search) error {
	var group errgroup.Group
	for i := range s.texts {
		group.Go(func() error { s.texts[i].match(q.snapshot); return nil })
	}
	rows := q.selected.list(q.snapshot)
	if s.required {
		_ = group.Wait() // it cannot fail
		rows = s.matching(rows)
	}
	begun := time.Now()
	for i := range s.vectors {
		for _, part := range partsOf(rows) {
			group.Go(func() error { return s.vectors[i].compare(q.ctx, q.snapshot, part) })
		}
	}
	err := group.Wait()
	for i := range s.vectors {
		s.vectors[i].leg.Took = time.Since(begun)
	}
	return err
}

// match scores all chunks by a text leg.
func (p *points) match(s *snapshot) {
	begun := time.Now()
	scores := *p.scores
	clear(scores)
	s.texts[p.leg.field].ScoreAll(p.leg.Text, func(row uint32, score float32) {
		scores[row-p.first] = max(score, math.SmallestNonzeroFloat32)
	})
	p.leg.Took = time.Since(begun)
}

// compare scores rows by a vector leg.
func (p *points) compare(ctx context.Context, s *snapshot, rows []uint32) error {
	scores := *p.scores
	var room [blockRows]float32
	for block := range slices.Chunk(rows, blockRows) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		cosines := room[:len(block)]
		s.vectors[p.leg.field].cosines(block, p.leg.unit, cosines)
		for i, row := range block {
			scores[row-p.first] = cosines[i]
		}
	}
	return nil
}

// matching are the rows that take part.
func (s *summer) matching(rows []uint32) []uint32 {
	var out []uint32
	for _, row := range rows {
		if _, matched := s.textPoints(row); matched {
			out = append(out, row)
		}
	}
	return out
}

// score appends the rows that take part with their sums.
func (s *summer) score(rows []uint32, block []scored) []scored {
	for _, row := range rows {
		total, matched := s.textPoints(row)
		if !matched {
			continue
		}
		for i := range s.vectors {
			if c := s.vectors[i].raw(row); c == c { // not NaN
				total += s.vectors[i].weight * (c + 1)
			}
		}
		block = append(block, scored{row, total})
	}
	return block
}

// textPoints is the sum of the text legs, and whether the row takes part.
func (s *summer) textPoints(row uint32) (total float64, matched bool) {
	matched = s.byVector
	for i := range s.texts {
		t := &s.texts[i]
		raw := t.raw(row)
		switch {
		case raw == 0 && t.leg.Required:
			return 0, false
		case raw == 0:
			continue
		case s.pivot > 0:
			raw /= raw + s.pivot
		}
		matched = true
		total += t.weight * raw
	}
	return total, matched
}

// rawScores gives a leg's score of each row; those of most legs are known already.
func (s *summer) rawScores(q *search, l *leg, rows []uint32) []float64 {
	for _, known := range [][]points{s.texts, s.vectors} {
		if i := slices.IndexFunc(known, func(p points) bool { return p.leg == l }); i >= 0 {
			return known[i].pick(rows)
		}
	}
	return q.rawScores(l, rows)
}

func (p *points) pick(rows []uint32) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = p.raw(row)
	}
	return out
}

// rankAmong ranks the hits that a leg knows, by its raw score and then by id.
func rankAmong(hits []engine.Hit, leg int, text bool) {
	order := make([]uint64, 0, len(hits)) // the score, falling, then the hit
	for i := range hits {
		if o := hits[i].Observations[leg]; o.Known() && (!text || o.Raw > 0) {
			order = append(order, uint64(falling(float32(o.Raw)))<<32|uint64(i))
		}
	}
	slices.Sort(order)
	sortTies(order, func(a, b uint64) int { return strings.Compare(hits[uint32(a)].ID, hits[uint32(b)].ID) })
	for rank, o := range order {
		hits[uint32(o)].Observations[leg].Rank = rank + 1
	}
}

// sortTies sorts each stretch of the same upper half.
func sortTies(order []uint64, compare func(a, b uint64) int) {
	for from, to := 0, 1; from < len(order); from, to = to, to+1 {
		for to < len(order) && order[to]>>32 == order[from]>>32 {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(order[from:to], compare)
		}
	}
}

// falling maps a score to a number that is the smaller the higher the score is.
func falling(score float32) uint32 {
	bits := math.Float32bits(score + 0) // of -0, those of 0
	if bits>>31 == 0 {
		return ^bits &^ (1 << 31)
	}
	return bits
}

// dense holds arrays of scores by row between searches.
var dense = sync.Pool{New: func() any { return new([]float32) }}

// borrow gives an array of n, with anything in it.
func borrow(n int) *[]float32 {
	scores := dense.Get().(*[]float32)
	if cap(*scores) < n {
		*scores = make([]float32, n)
	}
	*scores = (*scores)[:n]
	return scores
}

func (s *summer) release() {
	for _, p := range slices.Concat(s.texts, s.vectors) {
		dense.Put(p.scores)
	}
}
