package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// filter builds the filter's condition, and finds out whether few chunks pass it.
func (q *search) filter(ctx context.Context) error {
	f := &q.request.Filter
	q.where = whereOf(f)
	if len(f.Required)+len(f.Excluded) > 0 {
		var indexes []*bm25.Snapshot
		for _, field := range q.phraseFields() {
			if !slices.Contains(q.base.texts, field) {
				return fault.Invalid("filter.fields", field, engine.OneOf("a text field", q.base.texts))
			}
			if err := q.keywords[field].err; err != nil {
				return err
			}
			indexes = append(indexes, q.keywords[field].snapshot)
		}
		q.where.phrases(ctx, f, indexes)
	}
	if err := ctx.Err(); err != nil {
		return err // the phrases may have too few chunks
	}
	if q.request.Exact { // regardless of their number: rows are not needed
		q.few = true
		return nil
	}
	limit := q.exactLimit()
	if restrictsNothing(f) {
		q.few = q.state.chunks-q.state.hidden <= int64(limit)
		return nil
	}
	return q.probe(ctx, limit)
}

// unfiltered reports whether every chunk of the knowledge base may be a hit.
func (q *search) unfiltered() bool { return restrictsNothing(&q.request.Filter) && q.state.hidden == 0 }

// probe fetches the rows that pass the filter unless there are more than limit.
func (q *search) probe(ctx context.Context, limit int) error {
	w := q.where.clone()
	rows, err := q.conn.Query(ctx, fmt.Sprintf("SELECT row FROM %s WHERE %s LIMIT %s",
		q.base.table.name, w, w.bind(limit+1)), w.args...)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	q.few = len(found) <= limit
	if !q.few {
		return nil
	}
	q.rows, q.accept = found, roaring.New()
	for _, row := range found {
		q.accept.Add(uint32(row)) //nolint:gosec // a row number, bounded where it is given out
	}
	q.where = &where{}
	q.where.and("row = ANY(%s)", q.where.bind(found))
	return nil
}

// exactFactor is the number of chunks per requested hit up to which search is exact:
// walking a graph visits about as many.
const exactFactor = 10

// exactLimit is the number of filtered chunks up to which all are compared.
func (q *search) exactLimit() int {
	limit := q.engine.exact.limit
	if q.request.Sum != nil {
		return max(limit, q.request.Sum.Candidates)
	}
	for i := range q.legs {
		if l := &q.legs[i]; !l.isText() {
			limit = max(limit, q.engine.exact.factor*min(l.K, 1<<20))
		}
	}
	return limit
}
