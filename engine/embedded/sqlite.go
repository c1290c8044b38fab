package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"net/url"
	"path/filepath"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// files are the connections to the data file: one writes, several read.
type files struct {
	writer, readers *sql.DB
	lock            *lock
}

const readerCount = 4

func openFiles(ctx context.Context, dir string) (*files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the data directory %s", dir)
	}
	held, err := acquire(ctx, filepath.Join(dir, "lock.db"))
	if err != nil {
		return nil, err
	}
	f := &files{lock: held}
	path := filepath.Join(dir, "hybridge.db")
	if f.writer, err = sqlite.Connect(path, 1, sqlite.Immediate); err == nil {
		err = sqlite.Migrate(ctx, f.writer, path, migrations)
	}
	if err == nil {
		f.readers, err = sqlite.Connect(path, readerCount, "_pragma=query_only(1)&_pragma=cache_size(-4000)")
	}
	if err != nil {
		return nil, cmp.Or(sqlite.Fault(err, "opening the data file %s", path), f.close())
	}
	return f, nil
}

func (f *files) close() error {
	var all []error
	for _, db := range []*sql.DB{f.readers, f.writer} {
		if db != nil {
			all = append(all, db.Close())
		}
	}
	all = append(all, f.lock.release())
	if err := errors.Join(all...); err != nil {
		return sqlite.Fault(err, "closing the data file")
	}
	return nil
}

// write runs a transaction on the one writing connection. Once begun it does
// not stop with the caller's context, so that its outcome is always known.
func (f *files) write(ctx context.Context, change func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return sqlite.Fault(err, "writing to the data file")
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return sqlite.Fault(err, "writing to the data file")
	}
	if err := change(tx); err != nil {
		if undo := tx.Rollback(); undo != nil {
			err = errors.Join(err, undo)
		}
		return sqlite.Fault(err, "writing to the data file")
	}
	if err := tx.Commit(); err != nil {
		return sqlite.Fault(err, "committing to the data file")
	}
	return nil
}

// lock keeps a second process off the data directory: an exclusive transaction
// that ends with the process, on every operating system alike.
type lock struct {
	db   *sql.DB
	conn *sql.Conn
}

func acquire(ctx context.Context, path string) (*lock, error) {
	if err := sqlite.MakePrivate(path); err != nil {
		return nil, sqlite.Fault(err, "locking the data directory")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(0)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, sqlite.Fault(err, "locking the data directory")
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err == nil {
		return &lock{db: db, conn: conn}, nil
	}
	_ = db.Close() // the first error is the one that matters
	if sqlite.Busy(err) {
		return nil, fault.Wrap(fault.Conflict, err, "another process uses the data directory %s", filepath.Dir(path))
	}
	return nil, sqlite.Fault(err, "locking the data directory %s", filepath.Dir(path))
}

func (l *lock) release() error { return errors.Join(l.conn.Close(), l.db.Close()) }
