package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// files are the connections to the data file: one writes, several read.
type files struct {
	writer, readers *sql.DB
	lock            *lock
	log             *slog.Logger
	mark            *mark
	lost            int64       // transactions, accepted at this start
	full            atomic.Bool // the last write ran out of space
}

const readerCount = 4

func openFiles(ctx context.Context, options *Options, log *slog.Logger) (*files, error) {
	dir, err := filepath.Abs(options.Path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the data directory %s", dir)
	}
	held, err := acquire(ctx, filepath.Join(dir, "lock.db"))
	if err != nil {
		return nil, err
	}
	f := &files{lock: held, log: log}
	path := filepath.Join(dir, "hybridge.db")
	if f.writer, err = sqlite.Connect(path, 1, sqlite.Immediate); err == nil {
		err = sqlite.Migrate(ctx, f.writer, path, migrations)
	}
	if err == nil {
		f.lost, err = f.checkLoss(ctx, path, options.AcceptLoss)
	}
	if err == nil {
		err = f.begin(ctx)
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
	if f.mark != nil {
		all = append(all, f.mark.close())
	}
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
	err = change(tx)
	var commits int64
	if err == nil {
		err = tx.QueryRowContext(ctx, "UPDATE store SET commits = commits + 1 RETURNING commits").Scan(&commits)
	}
	if err != nil {
		f.noteRoom(err)
		if undo := tx.Rollback(); undo != nil {
			err = errors.Join(err, undo)
		}
		return sqlite.Fault(err, "writing to the data file")
	}
	if err := tx.Commit(); err != nil {
		// A full disk leaves the transaction open.
		_, _ = f.writer.ExecContext(ctx, "ROLLBACK")
		f.noteRoom(err)
		return sqlite.Fault(err, "committing to the data file")
	}
	f.noteRoom(nil)
	f.mark.note(commits)
	return nil
}

func isFull(err error) bool {
	return fault.Is(sqlite.Fault(err, "writing to the data file"), fault.DiskFull)
}

// noteRoom records whether the last write ran out of space, and logs each transition.
func (f *files) noteRoom(err error) {
	full := isFull(err)
	switch was := f.full.Swap(full); {
	case full && !was:
		f.log.Error("the disk of the data directory is full: nothing can be written, searches go on", "error", err)
	case was && !full && err == nil:
		f.log.Info("the data directory takes writes again")
	case was && err != nil:
		f.full.Store(true)
	}
}

// addChecksums adds the column for checksums to tables of older versions, which is cheap. An older version
// may have run after a newer one.
func (f *files) addChecksums(ctx context.Context) error {
	rows, err := f.readers.QueryContext(ctx, `SELECT m.name FROM sqlite_master m WHERE m.type = 'table'
		AND m.name GLOB 'chunks_[0-9]*' AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'checksum')`)
	if err != nil {
		return sqlite.Fault(err, "looking for tables without checksums")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	statement := ""
	for rows.Next() {
		name := ""
		if err := rows.Scan(&name); err != nil {
			return sqlite.Fault(err, "looking for tables without checksums")
		}
		statement += "ALTER TABLE " + name + " ADD COLUMN checksum INTEGER;\n"
	}
	if err := rows.Err(); err != nil || statement == "" {
		return sqlite.Fault(err, "looking for tables without checksums")
	}
	return f.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
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

// Examine checks the data in a folder, which must not be in use, without changing it.
// fault.Unsupported if they are of a newer version; fault.NotFound if there are none.
func Examine(ctx context.Context, dir string) error {
	return sqlite.Examine(ctx, filepath.Join(dir, "hybridge.db"), migrations)
}
