package events

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"path/filepath"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// spool keeps what was taken until it is stored, in a file: what is in it outlives the process. It is safe for
// concurrent use.
type spool struct {
	db   *sql.DB
	most int64 // bytes

	bytes, items atomic.Int64
	filled       chan struct{} // has one when there is something new
}

func openSpool(ctx context.Context, folder string, most int64) (*spool, error) {
	db, err := sqlite.Open(ctx, filepath.Join(folder, "events.db"), migrations)
	if err != nil {
		return nil, err
	}
	s := &spool{db: db, most: most, filled: make(chan struct{}, 1)}
	var bytes, items int64
	err = db.QueryRowContext(ctx,
		"SELECT COALESCE(SUM(LENGTH(body) + ?), 0), COALESCE(SUM(items), 0) FROM spool", rowBytes).Scan(&bytes, &items)
	if err != nil {
		return nil, spoolFault(errors.Join(err, db.Close()))
	}
	s.bytes.Store(bytes)
	s.items.Store(items)
	if items > 0 {
		s.tell()
	}
	return s, nil
}

func (s *spool) close() error { return spoolFault(s.db.Close()) }

func spoolFault(err error) error { return sqlite.Fault(err, "using the spool of events") }

// tell says that there is something to be stored.
func (s *spool) tell() {
	select {
	case s.filled <- struct{}{}:
	default: // it is said already
	}
}

// put keeps all batches or, after an error, none: fault.Unavailable where there is no room.
func (s *spool) put(ctx context.Context, all []*batch) error {
	var bytes, items int64
	for _, b := range all {
		bytes, items = bytes+b.size(), items+int64(b.items)
	}
	if s.bytes.Add(bytes) > s.most {
		s.bytes.Add(-bytes)
		return fault.New(fault.Unavailable, "the spool of events is full: its %d bytes are what could not be stored yet; "+
			"nothing of this was taken, send it again when the store is back, or allow more by events.spool_bytes", s.most)
	}
	if err := s.insert(ctx, all); err != nil {
		s.bytes.Add(-bytes)
		return spoolFault(err)
	}
	s.items.Add(items)
	s.tell()
	return nil
}

// insert is one transaction. Once begun it does not stop with the caller's context, so that its outcome is known.
func (s *spool) insert(ctx context.Context, all []*batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, b := range all {
		_, err := tx.ExecContext(ctx, "INSERT INTO spool (tenant, day, items, body) VALUES (?, ?, ?, ?)",
			b.tenant, b.day, b.items, b.body)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// last is the number of the newest batch, 0 without any.
func (s *spool) last(ctx context.Context) (last int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(number), 0) FROM spool").Scan(&last)
	return last, spoolFault(err)
}

// How much is taken out at a time, a batch more at most.
const (
	takenItems = 1000
	takenBytes = 4 << 20
)

// oldest reads the batches that came first, up to a number.
func (s *spool) oldest(ctx context.Context, upTo int64) ([]*batch, error) {
	rows, err := s.db.QueryContext(ctx,
		"SELECT number, tenant, day, items, body FROM spool WHERE number <= ? ORDER BY number", upTo)
	if err != nil {
		return nil, spoolFault(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []*batch
	items, bytes := 0, 0
	for items < takenItems && bytes < takenBytes && rows.Next() {
		b := &batch{}
		if err := rows.Scan(&b.number, &b.tenant, &b.day, &b.items, &b.body); err != nil {
			return nil, spoolFault(err)
		}
		all, items, bytes = append(all, b), items+b.items, bytes+len(b.body)
	}
	return all, spoolFault(rows.Err())
}

// drop takes out the oldest batches, which are stored.
func (s *spool) drop(ctx context.Context, oldest []*batch) error {
	ctx = context.WithoutCancel(ctx)
	_, err := s.db.ExecContext(ctx, "DELETE FROM spool WHERE number <= ?", oldest[len(oldest)-1].number)
	if err != nil {
		return spoolFault(err)
	}
	for _, b := range oldest {
		s.bytes.Add(-b.size())
		s.items.Add(-int64(b.items))
	}
	return nil
}

// secret gives the key of the file, made when it is first asked for.
func (s *spool) secret(ctx context.Context) (key []byte, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT key FROM secret").Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		key = []byte(rand.Text())
		_, err = s.db.ExecContext(ctx, "INSERT INTO secret (key) VALUES (?)", key)
	}
	return key, spoolFault(err)
}
