package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/bm25"
)

// rank runs the legs, each for its own best K: the keyword indexes in memory in parallel
// with the database.
func (q *search) rank(ctx context.Context) error {
	if err := q.collect(ctx); err != nil {
		return err
	}
	rows := q.union()
	if err := q.complete(ctx, rows); err != nil {
		return err
	}
	rows = q.union() // of the existing rows
	q.order()
	q.fill(ctx, rows)
	position := make(map[int64]int, len(rows))
	for i, row := range rows {
		position[row] = i
	}
	for i := range q.legs {
		for rank, s := range q.legs[i].ranked {
			o := &q.hits[position[s.row]].Observations[i]
			o.Rank, o.Raw = rank+1, s.score
		}
	}
	return nil
}

// collect finds every leg's best K.
func (q *search) collect(ctx context.Context) error {
	var texts sync.WaitGroup
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && l.isText() {
			texts.Go(func() { q.searchText(ctx, l) })
		}
	}
	err := q.searchVectors(ctx)
	texts.Wait()
	if err != nil {
		return err
	}
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && l.isText() {
			begun := time.Now()
			if err := q.settleText(ctx, l); err != nil {
				return err
			}
			l.Took += time.Since(begun)
		}
	}
	return nil
}

// union lists the rows of all legs' rankings.
func (q *search) union() []int64 {
	seen := map[int64]bool{}
	var rows []int64
	for i := range q.legs {
		for _, s := range q.legs[i].ranked {
			if !seen[s.row] {
				seen[s.row] = true
				rows = append(rows, s.row)
			}
		}
	}
	return rows
}

// searchText asks the keyword index for one hit more than K, to see whether the K-th ties
// with the next. If the filter is not known as rows it asks for more, as some will not
// pass.
func (q *search) searchText(ctx context.Context, l *leg) {
	begun := time.Now()
	l.asked = l.K + 1
	if q.rows == nil && !q.unfiltered() {
		l.asked = 4*l.K + 16
	}
	q.askText(ctx, l)
	l.Took = time.Since(begun)
}

// index returns the index of the leg's field, with its boosted parts.
func (q *search) index(l *leg) bm25.Searcher {
	var parts []bm25.Part
	for _, boost := range l.Boosts {
		parts = append(parts, bm25.Part{Snapshot: q.keywords[boost.Part].snapshot, Boost: boost.By})
	}
	return bm25.Boosted(q.keywords[l.Field].snapshot, parts)
}

func (q *search) askText(ctx context.Context, l *leg) {
	index := q.index(l)
	var accept func(uint32) bool
	if q.accept != nil {
		accept = q.accept.Contains
	}
	l.asked = min(l.asked, index.Docs()+1)
	l.first = index.Search(ctx, l.Text, l.asked, accept)
}

// settleText selects a text leg's best K among the hits of the keyword index. Only the
// database knows which of them pass the filter, and the ids that break ties with the K-th.
func (q *search) settleText(ctx context.Context, l *leg) error {
	certain := q.accept != nil || q.unfiltered()
	if n := len(l.first); certain && (n <= l.K || l.K > 0 && l.first[l.K].Score < l.first[l.K-1].Score) {
		for _, h := range l.first[:min(n, l.K)] {
			l.ranked = append(l.ranked, scored{int64(h.Key), float64(h.Score)})
		}
		return nil
	}
	for {
		passed, err := q.passing(ctx, l)
		if err != nil {
			return err
		}
		all := len(l.first) < l.asked
		enough := len(passed) >= l.K && (l.K == 0 || passed[l.K-1].score > float64(l.first[len(l.first)-1].Score))
		if all || enough {
			l.ranked = passed[:min(len(passed), l.K)]
			return nil
		}
		l.asked *= 4
		q.askText(ctx, l)
	}
}

// passing returns the keyword hits that pass the filter, by score and then by id.
func (q *search) passing(ctx context.Context, l *leg) ([]scored, error) {
	rows := make([]int64, len(l.first))
	for i, h := range l.first {
		rows[i] = int64(h.Key)
	}
	w := q.where.clone()
	answer, err := q.conn.Query(ctx, fmt.Sprintf("SELECT row, id FROM %s WHERE row = ANY(%s) AND %s",
		q.base.table.name, w.bind(rows), w), w.args...)
	if err != nil {
		return nil, err
	}
	ids := make(map[int64]string, len(rows))
	var row int64
	var id string
	if _, err := pgx.ForEachRow(answer, []any{&row, &id}, func() error {
		ids[row] = id
		return nil
	}); err != nil {
		return nil, err
	}
	var passed []scored
	for _, h := range l.first {
		if _, passes := ids[int64(h.Key)]; passes {
			passed = append(passed, scored{int64(h.Key), float64(h.Score)})
		}
	}
	sortScored(passed, func(row int64) string { return ids[row] })
	return passed, nil
}

// byID compares two rows' ids as bytes.
func byID(id func(int64) string, a, b int64) int { return strings.Compare(id(a), id(b)) }

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
