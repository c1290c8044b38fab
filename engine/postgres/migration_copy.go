package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// executor is a pool or a transaction.
type executor interface {
	querier
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// walk copies the rows of one table that lie behind the cursor into another.
type walk struct {
	*step
	db       executor
	from, to *base
	refit    *engine.Refit
}

func (s *step) walk(db executor, from, to *base) *walk {
	return &walk{s, db, from, to, engine.NewRefit(&from.kb, &to.kb)}
}

// forward and backward are the walks of both directions.
func (s *step) forward(db executor) *walk  { return s.walk(db, s.old, s.new) }
func (s *step) backward(db executor) *walk { return s.walk(db, s.new, s.old) }

// copyPage is the number of chunks copied at a time, embedPage the same if they are
// embedded.
const (
	copyPage  = 1000
	embedPage = 64
)

// copy copies as many chunks as exist at its start.
func (s *step) copy(ctx context.Context) error {
	err := s.pool.QueryRow(ctx, "SELECT chunks FROM knowledge_bases WHERE number = $1", s.number).Scan(&s.m.Progress.Total)
	if err != nil {
		return err
	}
	return s.forward(s.pool).copying().All(ctx)
}

// replay catches up with later writes and deletions.
func (s *step) replay(ctx context.Context) error { return s.catchUp(ctx, s.forward(s.pool)) }

func (s *step) catchUp(ctx context.Context, w *walk) error {
	err := w.copying().Rest(ctx)
	if err != nil {
		return err
	}
	return s.beating(ctx, w.prune)
}

func (w *walk) copying() *engine.Copying {
	return &engine.Copying{Migration: w.m, Page: w.page, Save: w.env.Save}
}

// prune deletes the rows that the other table no longer has.
func (w *walk) prune(ctx context.Context) error {
	_, err := w.db.Exec(ctx, fmt.Sprintf(`DELETE FROM %s AS made
		WHERE NOT EXISTS (SELECT FROM %s AS source WHERE source.row = made.row)`, w.to.table.name, w.from.table.name))
	return err
}

// source is a row to be copied; its chunk is read only to be embedded.
type source struct {
	row   int64
	chunk engine.Chunk
}

// page copies one page and moves the cursor.
func (w *walk) page(ctx context.Context) (int, error) {
	rows, cursor, err := w.read(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	numbers := make([]int64, len(rows))
	chunks := make([]*engine.Chunk, len(rows))
	for i := range rows {
		numbers[i], chunks[i] = rows[i].row, &rows[i].chunk
	}
	args := []any{numbers}
	if w.embeds() {
		if err := w.options.Embed.Fill(ctx, &w.to.kb, w.refit.Made, chunks); err != nil {
			return 0, err
		}
		vectors, err := w.columnsOf(chunks)
		if err != nil {
			return 0, err
		}
		args = append(args, vectors...)
	}
	if _, err := w.db.Exec(ctx, w.insertion(), args...); err != nil {
		return 0, err
	}
	w.m.Cursor = cursor
	return len(rows), nil
}

// embeds reports whether vectors are embedded again.
func (w *walk) embeds() bool { return len(w.refit.Made) > 0 }

// read returns the rows after the cursor, which is "generation/row", and the next cursor.
// Generations are committed in order, so the cursor misses none.
func (w *walk) read(ctx context.Context) (page []source, cursor string, err error) {
	var generation, row int64
	if w.m.Cursor != "" {
		if _, err := fmt.Sscanf(w.m.Cursor, "%d/%d", &generation, &row); err != nil {
			return nil, "", fault.Wrap(fault.Corrupt, err, "the cursor %q of a migration", w.m.Cursor)
		}
	}
	body, limit := "NULL::BYTEA", copyPage
	if w.embeds() {
		body, limit = "body", embedPage
	}
	limit = w.m.Progress.PageLimit(limit)
	rows, err := w.db.Query(ctx, fmt.Sprintf(`SELECT row, generation, %s FROM %s WHERE (generation, row) > ($1, $2)
		ORDER BY generation, row LIMIT $3`, body, w.from.table.name), generation, row, limit)
	if err != nil {
		return nil, "", err
	}
	page, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (s source, err error) {
		var text []byte
		if err := r.Scan(&s.row, &generation, &text); err != nil || text == nil {
			return s, err
		}
		s.chunk, err = w.from.kb.DecodeStored(text)
		return s, err
	})
	if len(page) > 0 {
		cursor = fmt.Sprintf("%d/%d", generation, page[len(page)-1].row)
	}
	return page, cursor, err
}

// columnsOf returns the newly embedded vectors of chunks by column, as text; nil without a
// vector.
func (w *walk) columnsOf(chunks []*engine.Chunk) ([]any, error) {
	all := make([]any, len(w.refit.Made))
	for i, made := range w.refit.Made {
		field, column := made.Name, make([]*string, len(chunks))
		for j := range chunks {
			v := chunks[j].Vectors[field]
			if v == nil {
				continue
			}
			if err := engine.CheckVector(field, v, w.to.kb.Dimensions); err != nil {
				return nil, fault.Wrap(fault.Unavailable, err, "embedding model %q gave another vector", w.to.kb.EmbeddingModel)
			}
			if v = vector.Unit(v); v != nil {
				column[j] = new(pgvector.NewVector(v).String())
			}
		}
		all[i] = column
	}
	return all, nil
}

// insertion copies the rows $1, with newly embedded vectors from $2 on. A replaced chunk
// wins by its higher row number.
func (w *walk) insertion() string {
	t := &w.to.table
	columns := t.columns()
	values, updates := make([]string, len(columns)), make([]string, len(columns))
	arrays, names := "$1::BIGINT[]", "row"
	for i, made := range w.refit.Made {
		arrays += fmt.Sprintf(", $%d::TEXT[]", i+2)
		names += ", " + made.Name
	}
	vectors := len(columns) - len(t.vectors)
	for i, c := range columns {
		updates[i] = c + " = excluded." + c
		switch {
		case i < vectors:
			values[i] = "source." + c
		case slices.Contains(w.refit.Kept, c):
			values[i] = w.from.table.read("source."+c) + "::" + t.columnType()
		case slices.ContainsFunc(w.refit.Made, func(f engine.Field) bool { return f.Name == c }):
			values[i] = "given." + c + "::" + t.columnType()
		default:
			values[i] = "NULL"
		}
	}
	return fmt.Sprintf(`INSERT INTO %s AS made (%s) SELECT %s FROM unnest(%s) AS given (%s) JOIN %s AS source USING (row)
		ON CONFLICT (id) DO UPDATE SET %s WHERE excluded.row > made.row`,
		t.name, strings.Join(columns, ", "), strings.Join(values, ", "), arrays, names, w.from.table.name,
		strings.Join(updates, ", "))
}

// turn makes the new table active.
func (s *step) turn(ctx context.Context) error {
	if s.m.Switched {
		return nil
	}
	if err := s.catchUp(ctx, s.forward(s.pool)); err != nil {
		return err
	}
	err := s.exchange(ctx, s.forward, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "ALTER TABLE "+s.old.table.name+" RENAME TO "+kept(s.old.table.name))
		return err
	})
	if s.m.Switched = err == nil; s.m.Switched {
		s.noteWrite(s.new) // for an index that is missing
	}
	return err
}

// revert makes the old table active again, after copying the writes since the switch.
func (s *step) revert(ctx context.Context) error {
	if !s.m.Switched {
		return nil
	}
	if err := s.catchUp(ctx, s.backward(s.pool)); err != nil {
		return err
	}
	name := tableOf(s.number, &s.m.From).name
	err := s.exchange(ctx, s.backward, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DROP TABLE "+s.new.table.name)
		if err == nil {
			_, err = tx.Exec(ctx, "ALTER TABLE "+s.old.table.name+" RENAME TO "+name)
		}
		return err
	})
	if s.m.Switched = err != nil; !s.m.Switched {
		s.noteWrite(s.old)
	}
	return err
}

// The longest wait of a switch for writers, and for searches in the old table.
const (
	waitWriters = "SET LOCAL lock_timeout = '10s'"
	waitReaders = "SET LOCAL lock_timeout = '2s'"
	lockTimeout = "55P03"
)

// exchange does the last catch-up, points the knowledge base to the other table and renames
// both, in one transaction that blocks writers.
func (s *step) exchange(
	ctx context.Context, way func(executor) *walk, rename func(context.Context, pgx.Tx) error,
) error {
	cursor := s.m.Cursor
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.own(ctx, tx); err != nil {
			return err
		}
		w := way(tx)
		if err := w.copying().Pages(ctx, func(int) (bool, error) { return true, nil }); err != nil {
			return err
		}
		if err := w.prune(ctx); err != nil {
			return err
		}
		if err := w.point(ctx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, waitReaders); err != nil {
			return err
		}
		return rename(ctx, tx)
	})
	if err != nil {
		s.m.Cursor = cursor
	}
	if isCode(err, lockTimeout) {
		return fault.Wrap(fault.Unavailable, err, "others are at work in the table")
	}
	s.forgetAny(s.m.Ref)
	return err
}

// own locks the knowledge base's row and checks that the migration is unchanged.
func (s *step) own(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, waitWriters); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT FROM knowledge_bases WHERE number = $1 FOR NO KEY UPDATE", s.number); err != nil {
		return err
	}
	var mine bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM mapping_migrations WHERE kb_id = $1 AND id = $2 AND revision = $3
		AND finished_at IS NULL FOR UPDATE)`, s.number, s.m.ID, s.m.Revision[0]).Scan(&mine)
	if err == nil && !mine {
		return fault.New(fault.Unavailable, "the migration was changed at the same time")
	}
	return err
}

// point makes the filled table active, unless chunks are missing.
func (w *walk) point(ctx context.Context) error {
	counts := "COUNT(*)"
	for _, v := range w.to.table.vectors {
		counts += ", COUNT(" + v + ")"
	}
	var want int64
	var found []int64
	err := w.db.QueryRow(ctx, fmt.Sprintf(`SELECT chunks, (SELECT ARRAY[%s]::BIGINT[] FROM %s) FROM knowledge_bases
		WHERE number = $1`, counts, w.to.table.name), w.number).Scan(&want, &found)
	if err != nil {
		return err
	}
	if found[0] != want {
		return w.m.Miss("counts", "%s has %d chunks of %d", w.to.table.name, found[0], want)
	}
	w.m.Pass("counts", "%s has all %d chunks", w.to.table.name, want)
	definition, err := engine.EncodeStored(w.to.kb)
	if err != nil {
		return err
	}
	var generation int64
	err = w.db.QueryRow(ctx, `UPDATE knowledge_bases SET definition = $2, vectors = $3, generation = generation + 1
		WHERE number = $1 RETURNING generation`, w.number, definition, found[1:]).Scan(&generation)
	w.m.Cursor = fmt.Sprintf("%d/0", generation) // later writes have higher generations
	return err
}

// defaultSample is the number of chunks compared field by field.
const defaultSample = 200

// cosineTolerance is a difference of cosines beyond the rounding of half precision.
const cosineTolerance = 0.001

// check compares a fixed random sample of chunks. Chunks written since the last catch-up
// are excluded: counts are compared under the lock of the switch.
func (s *step) check(ctx context.Context) error {
	equal := "made.body = source.body AND made.metadata = source.metadata AND made.id = source.id" +
		" AND made.document_id = source.document_id AND made.available = source.available"
	from, to := &s.old.table, &s.new.table
	for _, v := range engine.NewRefit(&s.old.kb, &s.new.kb).Kept {
		equal += fmt.Sprintf(" AND (made.%[1]s IS NULL) = (source.%[1]s IS NULL) AND COALESCE(%[2]s <=> %[3]s, 0) < %[4]v",
			v, from.read("source."+v), to.read("made."+v), cosineTolerance)
	}
	var generation, row int64
	if _, err := fmt.Sscanf(cmp.Or(s.m.Cursor, "0/0"), "%d/%d", &generation, &row); err != nil {
		return fault.Wrap(fault.Corrupt, err, "the cursor %q of a migration", s.m.Cursor)
	}
	n := cmp.Or(s.m.Plan.Options.Sample, defaultSample)
	var compared, differing int
	err := s.pool.QueryRow(ctx, fmt.Sprintf(`SELECT COUNT(*), COUNT(*) FILTER (WHERE made.row IS NULL OR NOT (%s))
		FROM (SELECT * FROM %s WHERE (generation, row) <= ($1, $2) ORDER BY lot LIMIT $3) AS source
		LEFT JOIN %s AS made USING (row)`, equal, from.name, to.name), generation, row, n).Scan(&compared, &differing)
	if err != nil {
		return err
	}
	if differing > 0 {
		return s.m.Miss("samples", "%d of %d chunks differ", differing, compared)
	}
	s.m.Pass("samples", "%d chunks are alike", compared)
	return nil
}
