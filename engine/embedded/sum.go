package embedded

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/sqlite"
)

// sum ranks by the weighted sum of all legs' points.
func (q *search) sum() error {
	s := summer{pivot: q.request.Sum.Pivot}
	defer s.release()
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil {
			s.add(q, l, q.request.Sum.Weights[i])
		}
	}
	begun := time.Now()
	best := q.best(q.request.Sum.Candidates, s.score)
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && !l.isText() {
			l.Took = time.Since(begun)
		}
	}
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
	texts    []textPoints
	vectors  []vectorPoints // that add something
	byVector bool           // there is a vector leg, for which every row takes part
	pivot    float64
}

type textPoints struct {
	leg    *leg
	weight float64
	first  uint32     // the row of scores[0]
	scores *[]float32 // by row; 0 where the text does not match
}

func (t *textPoints) raw(row uint32) float64 { return float64((*t.scores)[row-t.first]) }

// vectorPoints keep each cosine that they took, so that none is taken twice.
type vectorPoints struct {
	leg     *leg
	weight  float64
	field   *vectors
	first   uint32     // the row of cosines[0]
	cosines *[]float32 // by row; set where a row took part
}

// addTo adds the vector's points to the scores of ascending rows.
func (v *vectorPoints) addTo(block []scored) {
	var room [blockRows]float32
	cosines := room[:len(block)]
	v.field.cosines(block, v.leg.unit, cosines)
	known := *v.cosines
	for i, c := range cosines {
		known[block[i].row-v.first] = c
		if c == c { // not NaN
			block[i].score += v.weight * (float64(c) + 1)
		}
	}
}

// add takes a leg in; a text leg is evaluated for all chunks at once.
func (s *summer) add(q *search, l *leg, weight float64) {
	first, size := uint32(0), 0
	if live := q.snapshot.live; !live.IsEmpty() {
		first = live.Minimum()
		size = int(live.Maximum()-first) + 1
	}
	if !l.isText() {
		s.byVector = true
		if l.unit != nil && weight != 0 {
			field := &q.snapshot.vectors[l.field]
			s.vectors = append(s.vectors, vectorPoints{l, weight, field, first, borrow(size)})
		}
		return
	}
	begun := time.Now()
	scores := borrow(size)
	clear(*scores)
	dense := *scores
	q.snapshot.texts[l.field].ScoreAll(l.Text, func(row uint32, score float32) {
		dense[row-first] = max(score, math.SmallestNonzeroFloat32)
	})
	s.texts = append(s.texts, textPoints{l, weight, first, scores})
	l.Took = time.Since(begun)
}

// score appends the rows that take part with their sums.
func (s *summer) score(rows []uint32, block []scored) []scored {
	for _, row := range rows {
		if points, matched := s.textPoints(row); matched {
			block = append(block, scored{row, points})
		}
	}
	for i := range s.vectors {
		s.vectors[i].addTo(block)
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
	if i := slices.IndexFunc(s.texts, func(t textPoints) bool { return t.leg == l }); i >= 0 {
		return pick(*s.texts[i].scores, s.texts[i].first, rows)
	}
	if i := slices.IndexFunc(s.vectors, func(v vectorPoints) bool { return v.leg == l }); i >= 0 {
		return pick(*s.vectors[i].cosines, s.vectors[i].first, rows)
	}
	return q.rawScores(l, rows)
}

// pick gives the scores of rows, where scores[0] is that of the first row.
func pick(scores []float32, first uint32, rows []uint32) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = float64(scores[row-first])
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
	for _, t := range s.texts {
		dense.Put(t.scores)
	}
	for _, v := range s.vectors {
		dense.Put(v.cosines)
	}
}
