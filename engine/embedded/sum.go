package embedded

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
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
		return faultOf(err, "searching")
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

// summer adds up one row's points.
type summer struct {
	texts   []textPoints
	vectors []vectorPoints
	pivot   float64
}

type textPoints struct {
	leg    *leg
	weight float64
	first  uint32     // the row of scores[0]
	scores *[]float32 // by row; 0 where the text does not match
}

func (t *textPoints) raw(row uint32) float64 { return float64((*t.scores)[row-t.first]) }

type vectorPoints struct {
	weight float64
	field  *vectors
	unit   []float32 // nil for a zero vector
}

// add takes a leg in; a text leg is evaluated for all chunks at once.
func (s *summer) add(q *search, l *leg, weight float64) {
	if !l.isText() {
		s.vectors = append(s.vectors, vectorPoints{weight, &q.snapshot.vectors[l.field], l.unit})
		return
	}
	begun := time.Now()
	first, size := uint32(0), 0
	if live := q.snapshot.live; !live.IsEmpty() {
		first = live.Minimum()
		size = int(live.Maximum()-first) + 1
	}
	scores := borrow(size)
	dense := *scores
	q.snapshot.texts[l.field].ScoreAll(l.Text, func(row uint32, score float32) {
		dense[row-first] = max(score, math.SmallestNonzeroFloat32)
	})
	s.texts = append(s.texts, textPoints{l, weight, first, scores})
	l.Took = time.Since(begun)
}

// score is the sum of a row; NaN when it takes no part.
func (s *summer) score(row uint32) float64 {
	total, matched := 0.0, len(s.vectors) > 0
	for i := range s.texts {
		t := &s.texts[i]
		raw := t.raw(row)
		switch {
		case raw == 0 && t.leg.Required:
			return math.NaN()
		case raw == 0:
			continue
		case s.pivot > 0:
			raw /= raw + s.pivot
		}
		matched = true
		total += t.weight * raw
	}
	if !matched {
		return math.NaN()
	}
	for i := range s.vectors {
		v := &s.vectors[i]
		if v.unit == nil || v.weight == 0 {
			continue
		}
		if c := v.field.cosine(row, v.unit); c == c { // not NaN
			total += v.weight * (float64(c) + 1)
		}
	}
	return total
}

// rawScores gives a leg's score of each row; a text leg's are known already.
func (s *summer) rawScores(q *search, l *leg, rows []uint32) []float64 {
	i := slices.IndexFunc(s.texts, func(t textPoints) bool { return t.leg == l })
	if i < 0 {
		return q.rawScores(l, rows)
	}
	out := make([]float64, len(rows))
	for j, row := range rows {
		out[j] = s.texts[i].raw(row)
	}
	return out
}

// rankAmong ranks the hits that a leg knows, by its raw score and then by id.
func rankAmong(hits []engine.Hit, leg int, text bool) {
	known := make([]int, 0, len(hits))
	for i := range hits {
		if o := hits[i].Observations[leg]; o.Known() && (!text || o.Raw > 0) {
			known = append(known, i)
		}
	}
	slices.SortFunc(known, func(a, b int) int {
		x, y := &hits[a], &hits[b]
		if x, y := x.Observations[leg].Raw, y.Observations[leg].Raw; x != y {
			return cmp.Compare(y, x)
		}
		return strings.Compare(x.ID, y.ID)
	})
	for rank, i := range known {
		hits[i].Observations[leg].Rank = rank + 1
	}
}

// dense holds arrays of scores by row between searches.
var dense = sync.Pool{New: func() any { return new([]float32) }}

// borrow gives n zeros.
func borrow(n int) *[]float32 {
	scores := dense.Get().(*[]float32)
	if cap(*scores) < n {
		*scores = make([]float32, n)
	}
	*scores = (*scores)[:n]
	clear(*scores)
	return scores
}

func (s *summer) release() {
	for _, t := range s.texts {
		dense.Put(t.scores)
	}
}
