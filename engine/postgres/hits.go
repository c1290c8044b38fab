package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
)

// record holds the columns of a hit.
type record struct {
	id, documentID, documentName string
	cosines                      []*float64 // by leg; nil without one
	fields                       map[string][]any
}

// complete reads the records of rows, with the cosines of every vector leg. It is the last
// query of a search and ends the transaction.
func (q *search) complete(ctx context.Context, rows []int64) error {
	if len(rows) == 0 {
		return nil
	}
	w := &where{}
	if err := q.read(ctx, w, "row = ANY("+w.bind(rows)+")"); err != nil {
		return err
	}
	if len(q.found) < len(rows) { // during a migration's gate the new table lags behind the keyword index
		for i := range q.legs {
			l := &q.legs[i]
			l.ranked = slices.DeleteFunc(l.ranked, func(s scored) bool { return q.found[s.row] == nil })
		}
	}
	return nil
}

func (q *search) read(ctx context.Context, w *where, condition string) error {
	batch := &pgx.Batch{}
	columns, asked := q.columns(w)
	batch.Queue(fmt.Sprintf("SELECT %s FROM %s WHERE %s",
		strings.Join(columns, ", "), q.base.table.name, condition), w.args...)
	batch.Queue("COMMIT")
	results := q.conn.SendBatch(ctx, batch)
	rows, err := results.Query()
	if err == nil {
		err = q.records(rows, asked)
	}
	if err == nil {
		_, err = results.Exec()
	}
	err = cmp.Or(err, results.Close())
	q.ended = err == nil
	return err
}

// columns lists the columns of a record; asked lists the legs whose cosines follow.
func (q *search) columns(w *where) (columns []string, asked []int) {
	columns = []string{"row", "id", "document_id", "document_name", q.facetColumn(w)}
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && !l.isText() && l.unit != nil {
			asked = append(asked, i)
			columns = append(columns, fmt.Sprintf("1 - (%s <=> %s)",
				q.base.table.read(l.Field), w.bind(pgvector.NewVector(l.unit))))
		}
	}
	return columns, asked
}

func (q *search) records(rows pgx.Rows, asked []int) error {
	defer rows.Close()
	for rows.Next() {
		r := &record{cosines: make([]*float64, len(q.legs))}
		var row int64
		var fields []byte
		targets := []any{&row, &r.id, &r.documentID, &r.documentName, &fields}
		for _, i := range asked {
			targets = append(targets, &r.cosines[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if len(fields) > 0 {
			if err := json.Unmarshal(fields, &r.fields); err != nil {
				return err
			}
		}
		q.found[row] = r
	}
	return rows.Err()
}

// facetColumn is the metadata reduced to the fields of facets and signals.
func (q *search) facetColumn(w *where) string {
	names := slices.Clone(q.request.Facets)
	for i := range q.request.Signals {
		names = append(names, q.request.Signals[i].Field)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !storable(name) })
	if len(names) == 0 {
		return "NULL::jsonb"
	}
	return fmt.Sprintf("(SELECT jsonb_object_agg(name, metadata -> name) FROM unnest(%s::TEXT[]) AS names (name) "+
		"WHERE metadata ? name)", w.bind(names))
}

// order sorts every leg's ranking by score and id.
func (q *search) order() {
	for i := range q.legs {
		sortScored(q.legs[i].ranked, q.idOf)
	}
}

func (q *search) idOf(row int64) string { return q.found[row].id }

// sortScored sorts by score, the best first, and then by id.
func sortScored(list []scored, id func(row int64) string) {
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), byID(id, a.row, b.row))
	})
}

// fill makes a hit per row, with every leg's raw score and no ranks.
func (q *search) fill(ctx context.Context, rows []int64) {
	q.hits = make([]engine.Hit, len(rows))
	observations := make([]scoring.Observation, len(rows)*len(q.legs))
	for i, row := range rows {
		r := q.found[row]
		h := &q.hits[i]
		h.ID, h.DocumentID, h.DocumentName = r.id, r.documentID, r.documentName
		h.Observations = observations[i*len(q.legs) : (i+1)*len(q.legs) : (i+1)*len(q.legs)]
		for s := range q.request.Signals {
			h.Signals = append(h.Signals, r.signal(&q.request.Signals[s]))
		}
		if len(q.request.Facets) > 0 {
			h.Facets = r.facets(q.request.Facets)
		}
	}
	for i := range q.legs {
		for j, raw := range q.rawScores(ctx, i, rows) {
			q.hits[j].Observations[i].Raw = raw
		}
	}
}

// rawScores gives a leg's score of each row; NaN where it has none.
func (q *search) rawScores(ctx context.Context, i int, rows []int64) []float64 {
	l := &q.legs[i]
	out := make([]float64, len(rows))
	if l.Err == nil && l.isText() {
		keys := make([]uint32, len(rows))
		for j, row := range rows {
			keys[j] = uint32(row) //nolint:gosec // a row number, bounded where it is given out
		}
		for j, score := range q.index(l).Scores(ctx, l.Text, keys) {
			out[j] = float64(score)
		}
		return out
	}
	for j, row := range rows {
		out[j] = math.NaN()
		if c := q.found[row].cosines[i]; c != nil {
			out[j] = bounded(*c)
		}
	}
	return out
}

// signal computes a signal of the record.
func (r *record) signal(s *engine.Signal) float64 {
	best := 0.0
	for _, v := range r.fields[s.Field] {
		best = max(best, s.Of(filter.Value{V: v}))
	}
	return best
}

// facets gives the values of fields as text.
func (r *record) facets(names []string) map[string][]string {
	all := make(map[string][]string, len(names))
	for _, name := range names {
		for _, value := range r.fields[name] {
			if text, ok := (filter.Value{V: value}).Text(); ok {
				all[name] = append(all[name], text)
			}
		}
	}
	return all
}

// result says "exact" unless a leg was answered by an approximate index.
func (q *search) result() *engine.Result {
	r := &engine.Result{Hits: q.hits, Legs: make([]engine.LegOutcome, len(q.legs)), Method: q.method}
	for i := range q.legs {
		r.Legs[i] = q.legs[i].LegOutcome
		if r.Method == "" && r.Legs[i].Err == nil && r.Legs[i].Method == methodHNSW {
			r.Method = methodHNSW
		}
	}
	if r.Method == "" {
		r.Method = methodExact
	}
	return r
}
