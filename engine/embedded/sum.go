package embedded

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

// sum ranks by the weighted sum of all legs' points: the legs score their rows at the
// same time, then one pass adds them up.
func (q *search) sum() {
	s := newSummer(q)
	defer s.release()
	k := q.request.Sum.Candidates
	best := q.best(k, s.run(k), s.score)
	rows := make([]uint32, len(best))
	for i, b := range best {
		rows[i] = b.row
	}
	q.fill(rows, s.rawScores)
	engine.Join(q.hits, q.request.Legs)
}

// summer adds up the points of rows.
type summer struct {
	*search
	texts    []points
	vectors  []points // only legs with a weight
	signals  []weighted
	everyRow bool // takes part: there is a vector leg, or none at all
	required bool // there is a text leg that every row must match
	pivot    float64
}

// points are a leg's raw scores by row: 0 where a text does not match, NaN where a
// vector has no cosine.
type points struct {
	leg    *leg
	weight float64
	absent float64 // points of a vector leg without a cosine
	scores
	least, most scores // bounds of a vector leg's points
}

// newSummer takes the legs that can run.
func newSummer(q *search) *summer {
	s := &summer{search: q, pivot: q.request.Sum.Pivot, everyRow: len(q.legs) == 0}
	borrow := q.snapshot.borrow
	for i := range q.legs {
		l, weight := &q.legs[i], q.request.Sum.Weights[i]
		switch {
		case l.Err != nil:
		case l.isText():
			s.texts = append(s.texts, points{leg: l, weight: weight, scores: borrow()})
			s.required = s.required || l.Required
		default:
			s.everyRow = true
			if l.unit != nil && weight != 0 {
				absent := weight * q.request.Sum.AbsentPoints(i)
				s.vectors = append(s.vectors, points{l, weight, absent, borrow(), borrow(), borrow()})
			}
		}
	}
	s.signals = q.weightedSignals()
	return s
}

// run scores all rows that may be among the best k, and returns them. Where a text
// must match, the vectors of other rows are not read.
func (s *summer) run(k int) []uint32 {
	var texts sync.WaitGroup
	defer texts.Wait()
	for i := range s.texts {
		texts.Go(func() { s.texts[i].match(s.ctx) })
	}
	rows := s.selected.list(s.snapshot)
	if s.required {
		texts.Wait()
		rows = s.matching(rows)
	}
	begun := time.Now()
	if len(s.vectors) > 0 && s.narrows(k, rows) {
		s.eachVector(partsOf(rows, parallelRows), limitRows, s.limit)
		texts.Wait()
		rows = s.contenders(k, rows, parallelNear, s.estimate)
		s.eachVector(partsOf(rows, parallelRows), blockRows, s.compare)
	} else {
		s.eachVector(partsOf(rows, parallelRows), blockRows, s.compare)
	}
	for i := range s.vectors {
		s.vectors[i].leg.Took = time.Since(begun)
	}
	return rows
}

// limitRows is the number of rows bounded at once: a fraction of a millisecond's work.
const limitRows = 4096

// eachVector works through the rows for every vector leg, in blocks of the given size,
// the parts in parallel.
func (s *summer) eachVector(parts [][]uint32, size int, work func(p *points, rows []uint32)) {
	eachPart(parts, func(_ int, rows []uint32) {
		for i := range s.vectors {
			for block := range slices.Chunk(rows, size) {
				if s.ctx.Err() != nil {
					return
				}
				work(&s.vectors[i], block)
			}
		}
	})
}

// match scores all chunks by a text leg.
func (p *points) match(ctx context.Context) {
	begun := time.Now()
	clear(p.list)
	p.leg.index.ScoreAll(ctx, p.leg.Text, func(row uint32, score float32) {
		p.set(row, max(score, math.SmallestNonzeroFloat32))
	})
	p.leg.Took = time.Since(begun)
}

// limit bounds the scores of a block of rows by a vector leg.
func (s *summer) limit(p *points, block []uint32) {
	least, most := p.least, p.most
	if p.weight < 0 {
		least, most = most, least
	}
	s.snapshot.vectors[p.leg.field].limits(block, p.leg.query, least, most)
}

// compare scores a block of rows by a vector leg.
func (s *summer) compare(p *points, block []uint32) {
	var cosines [blockRows]float32
	s.snapshot.vectors[p.leg.field].cosines(block, p.leg.unit, cosines[:len(block)])
	for i, row := range block {
		p.set(row, cosines[i])
	}
}

// matching returns the rows that take part.
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
			if c := s.vectors[i].at(row); c == c { // not NaN
				total += s.vectors[i].weight * (c + 1)
			} else {
				total += s.vectors[i].absent
			}
		}
		for i := range s.signals {
			total += s.signals[i].weight * s.signals[i].at(row)
		}
		block = append(block, scored{row, total})
	}
	return block
}

// estimate writes bounds of the rows' sums. It adds up in the order that score does, so
// that no rounding puts a sum beyond them. Every row takes part: there is a vector leg, and
// required text legs were already applied.
func (s *summer) estimate(rows []uint32, least, most []float32) {
	var room [2][blockRows]float64
	lows, highs := room[0][:len(rows)], room[1][:len(rows)]
	for i := range s.texts {
		s.addText(&s.texts[i], rows, lows)
	}
	copy(highs, lows)
	for i := range s.vectors {
		s.vectors[i].addLimits(rows, lows, highs)
	}
	for i := range s.signals {
		s.signals[i].addTo(rows, lows)
		s.signals[i].addTo(rows, highs)
	}
	for i := range rows {
		least[i], most[i] = float32(lows[i]), float32(highs[i])
	}
}

// addText adds the points of a text leg to the rows' sums.
func (s *summer) addText(p *points, rows []uint32, sums []float64) {
	var room [blockRows]float32
	for i, x := range p.of(rows, room[:]) {
		raw := float64(x)
		if s.pivot > 0 {
			raw /= raw + s.pivot
		}
		sums[i] += p.weight * raw
	}
}

// addLimits adds the limits of a vector leg's points to those of the rows' sums.
func (p *points) addLimits(rows []uint32, lows, highs []float64) {
	var room [2][blockRows]float32
	least, most := p.least.of(rows, room[0][:]), p.most.of(rows, room[1][:])
	for i, x := range least {
		if a, b := float64(x), float64(most[i]); a == a && b == b { // not NaN
			lows[i] += p.weight * (a + 1)
			highs[i] += p.weight * (b + 1)
		} else {
			lows[i] += p.absent
			highs[i] += p.absent
		}
	}
}

// textPoints is the sum of the text legs, and whether the row takes part. It avoids
// branches on whether a text matches: half of them would be mispredicted.
func (s *summer) textPoints(row uint32) (total float64, matched bool) {
	matched = s.everyRow
	for i := range s.texts {
		t := &s.texts[i]
		raw := t.at(row)
		if t.leg.Required && raw == 0 {
			return 0, false
		}
		matched = matched || raw > 0
		if s.pivot > 0 {
			raw /= raw + s.pivot
		}
		total += t.weight * raw
	}
	return total, matched
}

// rawScores writes a leg's score of each row; most are already computed.
func (s *summer) rawScores(l *leg, rows []uint32, out []float64) {
	for _, known := range [][]points{s.texts, s.vectors} {
		if i := slices.IndexFunc(known, func(p points) bool { return p.leg == l }); i >= 0 {
			for j, row := range rows {
				out[j] = known[i].at(row)
			}
			return
		}
	}
	s.search.rawScores(l, rows, out)
}

func (s *summer) release() {
	for _, p := range slices.Concat(s.texts, s.vectors) {
		p.release()
		p.least.release()
		p.most.release()
	}
	for i := range s.signals {
		s.signals[i].release()
	}
}

// weighted is a signal of every live row, with its weight in a sum.
type weighted struct {
	weight float64
	scores
}

// signalsOf returns a record's signals, in the order of the request.
func (q *search) signalsOf(r *record) []float64 {
	if len(q.request.Signals) == 0 {
		return nil
	}
	all := make([]float64, len(q.request.Signals))
	for i := range q.request.Signals {
		s := &q.request.Signals[i]
		r.each(func(field string, values []filter.Value) {
			if field == s.Field {
				all[i] = s.Best(values)
			}
		})
	}
	return all
}

// weightedSignals returns the signals that a sum adds, computed once per distinct value of
// the field, not per row.
func (q *search) weightedSignals() []weighted {
	var all []weighted
	for i, weight := range q.request.Sum.Signals {
		if weight == 0 {
			continue
		}
		w := weighted{weight, q.snapshot.borrow()}
		clear(w.list)
		for _, seg := range q.snapshot.segments {
			if c := seg.columns[q.request.Signals[i].Field]; c != nil {
				c.signal(&q.request.Signals[i], q.snapshot.live, &w.scores)
			}
		}
		all = append(all, w)
	}
	return all
}

// addTo adds the points to the rows' sums.
func (w *weighted) addTo(rows []uint32, sums []float64) {
	var room [blockRows]float32
	for i, x := range w.of(rows, room[:]) {
		sums[i] += w.weight * float64(x)
	}
}

// signal raises the scores of live rows to the signals of their values.
func (c *column) signal(s *engine.Signal, live *roaring.Bitmap, scores *scores) {
	give := func(v filter.Value, p *posting) {
		signal := s.Of(v)
		if signal == 0 {
			return
		}
		p.each(func(row uint32) {
			if live.Contains(row) && scores.at(row) < signal {
				scores.set(row, float32(signal))
			}
		})
	}
	for i, v := range c.numbers.values {
		give(filter.Value{V: v}, &c.numbers.postings[i])
	}
	for i, v := range c.strings.values {
		give(filter.Value{V: v}, &c.strings.postings[i])
	}
	for i, v := range []bool{false, true} {
		give(filter.Value{V: v}, &c.bools[i])
	}
}

// each visits the rows in ascending order.
func (p *posting) each(visit func(row uint32)) {
	for _, row := range p.rows {
		visit(row)
	}
	if p.bitmap == nil {
		return
	}
	for rows := p.bitmap.Iterator(); rows.HasNext(); {
		visit(rows.Next())
	}
}
