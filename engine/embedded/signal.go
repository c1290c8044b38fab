package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

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
