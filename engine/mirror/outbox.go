package mirror

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// kind of what is owed.
type kind string

const (
	oneChunk kind = "chunk"
	document kind = "document" // all of its chunks, and none else
)

// debt is a chunk or document in which one engine may be outdated.
type debt struct {
	ref      engine.Ref
	engine   string
	kind     kind
	id       string
	source   string
	attempts int
	reason   string
	noted    int64 // grows from write to write
}

// outbox keeps debts over restarts.
type outbox struct {
	db    *sql.DB
	noted chan struct{} // has one when there are new debts
}

func openOutbox(ctx context.Context, folder string) (*outbox, error) {
	db, err := sqlite.Open(ctx, filepath.Join(folder, "outbox.db"), migrations)
	if err != nil {
		return nil, err
	}
	return &outbox{db: db, noted: make(chan struct{}, 1)}, nil
}

func (o *outbox) close() error { return broken(o.db.Close()) }

func broken(err error) error { return sqlite.Fault(err, "using the outbox") }

// begin notes what will be owed if the process ends before the outcome of a write is known, and gives what was owed
// before by id. An id that is owed for already keeps its source: that engine alone has what the others missed.
func (o *outbox) begin(ctx context.Context, w *write) (earlier map[string][]debt, err error) {
	earlier = map[string][]debt{}
	err = o.change(ctx, func(tx *sql.Tx, noted int64) error {
		seen := map[string]bool{}
		for _, id := range w.ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			found, err := read(ctx, tx, w.condition(), w.ref.Tenant, w.ref.ID, w.kind, id)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				earlier[id] = found
			}
			if err := w.beginOf(ctx, tx, id, noted, found); err != nil {
				return err
			}
		}
		return nil
	})
	return earlier, err
}

func (w *write) beginOf(ctx context.Context, tx *sql.Tx, id string, noted int64, found []debt) error {
	source := w.members[w.order[0]].Name()
	if len(found) > 0 {
		source = found[0].source
	}
	for _, e := range w.members {
		d := debt{ref: w.ref, engine: e.Name(), kind: w.kind, id: id, source: source, noted: noted}
		if d.engine == source || slices.ContainsFunc(found, func(f debt) bool { return f.engine == d.engine }) {
			continue
		}
		if err := insert(ctx, tx, &d, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// end forgets all debts in the things of a write and notes those that are owed after it.
func (o *outbox) end(ctx context.Context, w *write, owed []debt, due time.Time) error {
	err := o.change(ctx, func(tx *sql.Tx, noted int64) error {
		for _, id := range w.ids {
			_, err := tx.ExecContext(ctx, "DELETE FROM owed WHERE "+w.condition(), w.ref.Tenant, w.ref.ID, w.kind, id)
			if err != nil {
				return err
			}
		}
		for i := range owed {
			if owed[i].noted == 0 {
				owed[i].noted = noted
			}
			if err := insert(ctx, tx, &owed[i], due); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(owed) > 0 {
		o.signal()
	}
	return err
}

// condition selects the debts in one chunk, or one document, of a write.
func (w *write) condition() string {
	return "tenant = ? AND knowledge_base = ? AND kind = ? AND id = ?"
}

// change runs one transaction with a number that is above those of all debts.
func (o *outbox) change(ctx context.Context, do func(tx *sql.Tx, noted int64) error) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return broken(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var noted int64
	err = tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(noted), 0) + 1 FROM owed").Scan(&noted)
	if err == nil {
		err = do(tx, noted)
	}
	if err == nil {
		err = tx.Commit()
	}
	return broken(err)
}

// signal wakes the loop for new debts.
func (o *outbox) signal() {
	select {
	case o.noted <- struct{}{}:
	default: // already signalled
	}
}

func insert(ctx context.Context, tx *sql.Tx, d *debt, due time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT OR REPLACE INTO owed (tenant, knowledge_base, engine, kind, id, source, attempts, due, reason, noted)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id, d.source, d.attempts, due.UnixMilli(), d.reason, d.noted)
	return err
}

// earliest is the time when the first debt is due, if there is one.
func (o *outbox) earliest(ctx context.Context) (due time.Time, owed bool, err error) {
	var at sql.NullInt64
	err = o.db.QueryRowContext(ctx, "SELECT MIN(due) FROM owed").Scan(&at)
	return time.UnixMilli(at.Int64), at.Valid, broken(err)
}

// due lists debts that are to be made up for by then, those of one knowledge
// base together, the newest first.
func (o *outbox) due(ctx context.Context, by time.Time, limit int) ([]debt, error) {
	return o.list(ctx, `due <= ? ORDER BY tenant, knowledge_base, noted DESC, engine, source, kind, id LIMIT ?`,
		by.UnixMilli(), limit)
}

// of lists the debts of a knowledge base.
func (o *outbox) of(ctx context.Context, ref engine.Ref, limit int) ([]debt, error) {
	return o.list(ctx, `tenant = ? AND knowledge_base = ? ORDER BY noted DESC, engine, source, kind, id LIMIT ?`,
		ref.Tenant, ref.ID, limit)
}

func (o *outbox) list(ctx context.Context, where string, args ...any) ([]debt, error) {
	return read(ctx, o.db, where, args...)
}

// queryer reads rows, within a transaction or outside of one.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func read(ctx context.Context, from queryer, where string, args ...any) ([]debt, error) {
	rows, err := from.QueryContext(ctx,
		"SELECT tenant, knowledge_base, engine, kind, id, source, attempts, reason, noted FROM owed WHERE "+where, args...)
	if err != nil {
		return nil, broken(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []debt
	for rows.Next() {
		var d debt
		err := rows.Scan(&d.ref.Tenant, &d.ref.ID, &d.engine, &d.kind, &d.id, &d.source, &d.attempts, &d.reason,
			&d.noted)
		if err != nil {
			return nil, broken(err)
		}
		all = append(all, d)
	}
	return all, broken(rows.Err())
}

// standing returns the debts that are still owed, from the same source.
func (o *outbox) standing(ctx context.Context, debts []debt) ([]debt, error) {
	var left []debt
	for _, d := range debts {
		var attempts int
		err := o.db.QueryRowContext(ctx, `SELECT attempts FROM owed
			WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND kind = ? AND id = ? AND source = ?`,
			d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id, d.source).Scan(&attempts)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, broken(err)
		}
		d.attempts = attempts
		left = append(left, d)
	}
	return left, nil
}

// overtaken reports whether a newer debt makes the engine of a group the source of the other one, in documents where
// the group is of chunks or the other way round: what the group would copy may be older than what is there.
func (o *outbox) overtaken(ctx context.Context, group []debt) (is bool, err error) {
	d, oldest := &group[0], group[0].noted
	for i := range group {
		oldest = min(oldest, group[i].noted)
	}
	err = o.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM owed
		WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND source = ? AND kind <> ? AND noted > ?)`,
		d.ref.Tenant, d.ref.ID, d.source, d.engine, d.kind, oldest).Scan(&is)
	return is, broken(err)
}

// count returns the number of debts of each engine in a knowledge base.
func (o *outbox) count(ctx context.Context, ref engine.Ref) (map[string]int, error) {
	rows, err := o.db.QueryContext(ctx,
		"SELECT engine, COUNT(*) FROM owed WHERE tenant = ? AND knowledge_base = ? GROUP BY engine", ref.Tenant, ref.ID)
	if err != nil {
		return nil, broken(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	counts := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, broken(err)
		}
		counts[name] = n
	}
	return counts, broken(rows.Err())
}

// paid removes a debt.
func (o *outbox) paid(ctx context.Context, d *debt) error {
	_, err := o.db.ExecContext(ctx,
		"DELETE FROM owed WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND kind = ? AND id = ?",
		d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id)
	return broken(err)
}

// postpone records that paying a debt failed.
func (o *outbox) postpone(ctx context.Context, d *debt, due time.Time, reason string) error {
	_, err := o.db.ExecContext(ctx, `UPDATE owed SET attempts = attempts + 1, due = ?, reason = ?
		WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND kind = ? AND id = ?`,
		due.UnixMilli(), reason, d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id)
	return broken(err)
}

// forget removes the debts of a deleted knowledge base.
func (o *outbox) forget(ctx context.Context, ref engine.Ref) error {
	_, err := o.db.ExecContext(ctx, "DELETE FROM owed WHERE tenant = ? AND knowledge_base = ?", ref.Tenant, ref.ID)
	return broken(err)
}
