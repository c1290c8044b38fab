package postgres

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
)

// sum ranks by the weighted sum of all legs' points: over every chunk if few pass the
// filter, else over the best Candidates of each leg.
func (q *search) sum(ctx context.Context) error {
	q.method = methodUnion
	if q.few {
		q.method = methodExact
	}
	rows, err := q.candidates(ctx)
	if err != nil {
		return err
	}
	totals := q.totals(ctx, rows)
	slices.SortFunc(totals, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), byID(q.idOf, a.row, b.row))
	})
	best := make([]int64, 0, len(totals))
	for _, s := range totals[:min(len(totals), max(0, q.request.Sum.Candidates))] {
		best = append(best, s.row)
	}
	q.fill(ctx, best)
	engine.Join(q.hits, q.request.Legs)
	return nil
}

// candidates returns the rows that take part, after reading their records.
func (q *search) candidates(ctx context.Context) ([]int64, error) {
	if q.few || len(q.legs) == 0 {
		w := q.where.clone()
		condition := w.String()
		if !q.few {
			condition += " ORDER BY id LIMIT " + w.bind(q.request.Sum.Candidates)
		}
		if err := q.read(ctx, w, condition); err != nil {
			return nil, err
		}
		rows := make([]int64, 0, len(q.found))
		for row := range q.found {
			rows = append(rows, row)
		}
		return rows, nil
	}
	for i := range q.legs {
		own := *q.legs[i].Leg // its own K applies to rankings only
		own.K = q.request.Sum.Candidates
		q.legs[i].Leg = &own
	}
	if err := q.collect(ctx); err != nil {
		return nil, err
	}
	rows := q.union()
	err := q.complete(ctx, rows)
	return q.union(), err
}

// totals adds up the points of the rows that take part.
func (q *search) totals(ctx context.Context, rows []int64) []scored {
	raw := make([][]float64, len(q.legs))
	everyRow := len(q.legs) == 0 // takes part
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil {
			raw[i] = q.rawScores(ctx, i, rows)
			everyRow = everyRow || !l.isText()
		}
	}
	totals := make([]scored, 0, len(rows))
	for j, row := range rows {
		total, matched := 0.0, everyRow
		for i := range q.legs {
			if raw[i] == nil {
				continue
			}
			points, there := q.points(&q.legs[i], raw[i][j])
			if !there && !q.legs[i].isText() {
				points = q.request.Sum.AbsentPoints(i)
			}
			if !there && q.legs[i].Required && q.legs[i].isText() {
				matched = false
				break
			}
			matched = matched || there
			total += q.request.Sum.Weights[i] * points
		}
		for i, weight := range q.request.Sum.Signals {
			total += weight * q.found[row].signal(&q.request.Signals[i])
		}
		if matched {
			totals = append(totals, scored{row, total})
		}
	}
	return totals
}

// points converts a leg's raw score to points; there says whether the leg covers the chunk.
func (q *search) points(l *leg, raw float64) (points float64, there bool) {
	switch {
	case math.IsNaN(raw):
		return 0, false
	case !l.isText():
		return raw + 1, true
	case raw == 0:
		return 0, false
	case q.request.Sum.Pivot > 0:
		return raw / (raw + q.request.Sum.Pivot), true
	default:
		return raw, true
	}
}
