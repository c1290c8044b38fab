package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
)

// Methods of a vector leg.
const (
	methodExact = "exact" // every chunk that passes the filter was compared
	methodHNSW  = "hnsw"  // the approximate index was used
	methodUnion = "union" // a sum over the candidates of each leg
)

// searchVectors runs the vector legs one after the other on the transaction's
// connection.
func (q *search) searchVectors(ctx context.Context) error {
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil || l.isText() || l.unit == nil {
			continue
		}
		begun := time.Now()
		if err := q.searchVector(ctx, l); err != nil {
			return err
		}
		l.Took = time.Since(begun)
	}
	return nil
}

// searchVector uses the index if there is one and many chunks pass the filter. If that
// finds fewer than K it is repeated exactly.
func (q *search) searchVector(ctx context.Context, l *leg) (err error) {
	field := slices.Index(q.base.table.vectors, l.Field)
	if !q.few && q.indexed(ctx, field) {
		l.Method = methodHNSW
		l.ranked, err = q.approximate(ctx, l)
		if err != nil || len(l.ranked) >= l.K {
			return err
		}
	}
	l.Method = methodExact
	l.ranked, err = q.exact(ctx, l)
	return err
}

// exact compares every chunk; compare orders by an expression that no index covers.
func (q *search) exact(ctx context.Context, l *leg) ([]scored, error) {
	w := q.where.clone()
	statement := q.compare(l, w)
	rows, err := q.conn.Query(ctx, statement, w.args...)
	return collectScored(rows, err)
}

func (q *search) compare(l *leg, w *where) string {
	v := w.bind(pgvector.NewVector(l.unit))
	return fmt.Sprintf(`SELECT row, 1 - (%[1]s <=> %[2]s) FROM %[3]s
		WHERE %[1]s IS NOT NULL AND %[4]s ORDER BY (%[1]s <=> %[2]s) + 0, id LIMIT %[5]s`,
		q.base.table.read(l.Field), v, q.base.table.name, w, w.bind(l.K))
}

// largestEF is pgvector's limit of hnsw.ef_search.
const largestEF = 1000

// approximate walks the vector index. strict_order goes on walking until enough
// chunks pass the filter.
func (q *search) approximate(ctx context.Context, l *leg) ([]scored, error) {
	ef := min(max(100, 2*l.K), largestEF)
	w := q.where.clone()
	statement := q.walk(l, w)
	batch := &pgx.Batch{}
	// SET takes no parameters; set_config with true is SET LOCAL.
	batch.Queue(`SELECT set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'strict_order', true),
		set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`, fmt.Sprint(ef))
	batch.Queue(statement, w.args...)
	batch.Queue(`SELECT set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true)`)
	results := q.conn.SendBatch(ctx, batch)
	defer results.Close() //nolint:errcheck // an error here ends the transaction, whose next statement tells
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	return collectScored(results.Query())
}

// walk is the statement for the vector index. An index in half precision yields twice as
// many rows, which are then sorted by the full vectors.
func (q *search) walk(l *leg, w *where) string {
	t := &q.base.table
	v := w.bind(pgvector.NewVector(l.unit))
	if !t.halved() {
		return fmt.Sprintf(`SELECT row, 1 - (%[1]s <=> %[2]s) FROM %[3]s
			WHERE %[4]s ORDER BY %[1]s <=> %[2]s, id LIMIT %[5]s`,
			l.Field, v, t.name, w, w.bind(l.K))
	}
	return fmt.Sprintf(`SELECT row, 1 - distance FROM (
		SELECT row, id, %[1]s <=> %[2]s AS distance FROM %[3]s
		WHERE %[4]s ORDER BY %[6]s <=> %[2]s::halfvec(%[7]d) LIMIT %[5]s * 2
	) AS near ORDER BY distance, id LIMIT %[5]s`,
		t.read(l.Field), v, t.name, w, w.bind(l.K), t.indexed(l.Field), t.dims)
}

func collectScored(rows pgx.Rows, err error) ([]scored, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s scored, err error) {
		err = row.Scan(&s.row, &s.score)
		s.score = bounded(s.score)
		return s, err
	})
}

// bounded clamps rounding errors to [-1, 1].
func bounded(cosine float64) float64 { return max(-1, min(1, cosine)) }

// indexed reports whether the vector index of a field is usable.
func (q *search) indexed(ctx context.Context, field int) bool {
	usable, err := q.base.usableIndexes(ctx, q.conn, indexAge)
	return err == nil && usable[field] // an error aborts the transaction, so its next statement fails
}
