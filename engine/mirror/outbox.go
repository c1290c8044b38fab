package mirror

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"path/filepath"
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

// debt is what one engine may be behind in.
type debt struct {
	ref      engine.Ref
	engine   string
	kind     kind
	id       string
	source   string
	attempts int
	reason   string
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

// replace forgets all debts in these things of a knowledge base and notes
// those given, in one transaction.
func (o *outbox) replace(ctx context.Context, w *write, owed []debt, due time.Time) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return broken(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, id := range w.ids {
		_, err := tx.ExecContext(ctx,
			"DELETE FROM owed WHERE tenant = ? AND knowledge_base = ? AND kind = ? AND id = ?",
			w.ref.Tenant, w.ref.ID, w.kind, id)
		if err != nil {
			return broken(err)
		}
	}
	for i := range owed {
		if err := insert(ctx, tx, &owed[i], due); err != nil {
			return broken(err)
		}
	}
	if err := tx.Commit(); err != nil {
		return broken(err)
	}
	if len(owed) > 0 {
		o.tell()
	}
	return nil
}

// tell says that there are new debts.
func (o *outbox) tell() {
	select {
	case o.noted <- struct{}{}:
	default: // it is said already
	}
}

func insert(ctx context.Context, tx *sql.Tx, d *debt, due time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT OR REPLACE INTO owed (tenant, knowledge_base, engine, kind, id, source, attempts, due, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id, d.source, d.attempts, due.UnixMilli(), d.reason)
	return err
}

// earliest is when the first debt is to be made up for, if there is one.
func (o *outbox) earliest(ctx context.Context) (due time.Time, owed bool, err error) {
	var at sql.NullInt64
	err = o.db.QueryRowContext(ctx, "SELECT MIN(due) FROM owed").Scan(&at)
	return time.UnixMilli(at.Int64), at.Valid, broken(err)
}

// due lists debts that are to be made up for by then, those of one knowledge
// base, engine, source and kind together.
func (o *outbox) due(ctx context.Context, by time.Time, limit int) ([]debt, error) {
	return o.list(ctx, `WHERE due <= ? ORDER BY tenant, knowledge_base, engine, source, kind, id LIMIT ?`,
		by.UnixMilli(), limit)
}

// of lists the debts of a knowledge base.
func (o *outbox) of(ctx context.Context, ref engine.Ref, limit int) ([]debt, error) {
	return o.list(ctx, `WHERE tenant = ? AND knowledge_base = ? ORDER BY engine, source, kind, id LIMIT ?`,
		ref.Tenant, ref.ID, limit)
}

func (o *outbox) list(ctx context.Context, where string, args ...any) ([]debt, error) {
	rows, err := o.db.QueryContext(ctx,
		"SELECT tenant, knowledge_base, engine, kind, id, source, attempts, reason FROM owed "+where, args...)
	if err != nil {
		return nil, broken(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []debt
	for rows.Next() {
		var d debt
		err := rows.Scan(&d.ref.Tenant, &d.ref.ID, &d.engine, &d.kind, &d.id, &d.source, &d.attempts, &d.reason)
		if err != nil {
			return nil, broken(err)
		}
		all = append(all, d)
	}
	return all, broken(rows.Err())
}

// standing are those of the debts that are still owed, from the same source.
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

// count tells how many debts each engine has in a knowledge base.
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

// paid takes a debt out.
func (o *outbox) paid(ctx context.Context, d *debt) error {
	_, err := o.db.ExecContext(ctx,
		"DELETE FROM owed WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND kind = ? AND id = ?",
		d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id)
	return broken(err)
}

// postpone notes that making up for a debt failed.
func (o *outbox) postpone(ctx context.Context, d *debt, due time.Time, reason string) error {
	_, err := o.db.ExecContext(ctx, `UPDATE owed SET attempts = attempts + 1, due = ?, reason = ?
		WHERE tenant = ? AND knowledge_base = ? AND engine = ? AND kind = ? AND id = ?`,
		due.UnixMilli(), reason, d.ref.Tenant, d.ref.ID, d.engine, d.kind, d.id)
	return broken(err)
}

// forget drops what is owed to a knowledge base that is gone.
func (o *outbox) forget(ctx context.Context, ref engine.Ref) error {
	_, err := o.db.ExecContext(ctx, "DELETE FROM owed WHERE tenant = ? AND knowledge_base = ?", ref.Tenant, ref.ID)
	return broken(err)
}
