package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hybridge-search/hybridge/fault"
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
	if f.writer, err = connect(path, 1, "_txlock=immediate"); err == nil {
		err = migrate(ctx, f.writer)
	}
	if err == nil {
		f.readers, err = connect(path, readerCount, "_pragma=query_only(1)")
	}
	if err != nil {
		return nil, cmp.Or(faultOf(err, "opening the data file %s", path), f.close())
	}
	return f, nil
}

// connect opens a pool of connections. In WAL mode with synchronous NORMAL a
// killed process loses nothing that was committed.
func connect(path string, connections int, options string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	dsn.RawQuery = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
		"&_pragma=foreign_keys(1)&_pragma=cache_size(-16000)&" + options
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
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
		return faultOf(err, "closing the data file")
	}
	return nil
}

// write runs a transaction on the one writing connection. Once begun it does
// not stop with the caller's context, so that its outcome is always known.
func (f *files) write(ctx context.Context, change func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return faultOf(err, "writing to the data file")
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return faultOf(err, "writing to the data file")
	}
	if err := change(tx); err != nil {
		if undo := tx.Rollback(); undo != nil {
			err = errors.Join(err, undo)
		}
		return faultOf(err, "writing to the data file")
	}
	if err := tx.Commit(); err != nil {
		return faultOf(err, "committing to the data file")
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
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(0)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, faultOf(err, "locking the data directory")
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err == nil {
		return &lock{db: db, conn: conn}, nil
	}
	_ = db.Close() // the first error is the one that matters
	if code(err) == sqlite3.SQLITE_BUSY {
		return nil, fault.Wrap(fault.Conflict, err, "another process uses the data directory %s", filepath.Dir(path))
	}
	return nil, faultOf(err, "locking the data directory %s", filepath.Dir(path))
}

func (l *lock) release() error { return errors.Join(l.conn.Close(), l.db.Close()) }

// code is SQLite's primary result code, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// faultOf gives an error of the file its kind; a fault stays what it is.
func faultOf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	kind := kindOfCode(code(err))
	switch {
	case errors.Is(err, context.Canceled):
		kind = fault.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		kind = fault.Timeout
	}
	return fault.Wrap(kind, err, format, args...)
}

func kindOfCode(code int) fault.Kind {
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Overloaded
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Corrupt
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fault.Unavailable
	case sqlite3.SQLITE_INTERRUPT:
		return fault.Canceled
	case sqlite3.SQLITE_TOOBIG:
		return fault.TooLarge
	default:
		return fault.Internal
	}
}
