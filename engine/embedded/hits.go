package embedded

import (
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

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
