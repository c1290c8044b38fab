// Package sqlite opens data files: with the settings that a server's files
// need, brought up to date by migrations, and with errors of the right kind.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
)

// Immediate makes a transaction take the write lock when it begins, not when it
// first writes and may find that it cannot.
const Immediate = "_txlock=immediate"

// open opens a file with parameters of the driver.
func open(path, parameters string) (*sql.DB, error) {
	name, err := address(path, parameters)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", name)
}

// address names a file to the driver; the first folder of a relative path would be taken for a host.
func address(path, parameters string) (string, error) {
	path, err := filepath.Abs(path)
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: parameters}
	return name.String(), err
}

// Connect opens a pool of connections; options are more parameters of the
// driver. In WAL mode with synchronous NORMAL a killed process loses nothing
// that was committed. A new file gets pages of 16 KB: those of 4 KB hold one row
// with a vector and are half empty then. The driver sorts its _pragma settings,
// so the mode, which fixes the size of a page, is a setting of its own.
func Connect(path string, connections int, options string) (*sql.DB, error) {
	if err := MakePrivate(path); err != nil {
		return nil, err
	}
	db, err := open(path, "_pragma=busy_timeout(10000)&_pragma=page_size(16384)&_journal_mode=WAL"+
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=cache_size(-16000)&"+options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// MakePrivate makes a file for its user alone unless it is there; SQLite would make it readable
// for others. What SQLite makes beside it has the file's mode. That it cannot be made is told
// by who opens it.
func MakePrivate(path string) error {
	file, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil //nolint:nilerr // it is there, or SQLite says why not
	}
	return file.Close()
}

// Open opens one connection to a file, made and migrated where it has to be.
func Open(ctx context.Context, path string, migrations fs.FS) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the data file %s", path)
	}
	db, err := Connect(path, 1, Immediate)
	if err != nil {
		return nil, Fault(err, "opening the data file %s", path)
	}
	if err := Migrate(ctx, db, path, migrations); err != nil {
		return nil, Fault(errors.Join(err, db.Close()), "opening the data file %s", path)
	}
	return db, nil
}

// Codes of errors that callers tell apart.
const (
	Corrupt = sqlite3.SQLITE_CORRUPT // its pages are not as it wrote them
)

// Code is SQLite's primary result code, 0 for other errors.
func Code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// hasCode reports whether an error has an extended code.
func hasCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == code
}

// Busy reports whether somebody else holds the file.
func Busy(err error) bool { return Code(err) == sqlite3.SQLITE_BUSY }

// Fault gives an error of a file its kind; a fault and nil stay what they are.
func Fault(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	kind := kindOf(Code(err))
	switch {
	case errors.Is(err, syscall.ENOSPC), hasCode(err, sqlite3.SQLITE_IOERR_SHMSIZE):
		kind = fault.DiskFull
	case errors.Is(err, context.Canceled):
		kind = fault.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		kind = fault.Timeout
	}
	if kind == fault.DiskFull {
		return fault.Wrap(kind, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err),
			"the disk of the data directory is full: nothing was changed; make room and try again")
	}
	var said *sqlite.Error
	if errors.As(err, &said) {
		return fault.Wrap(kind, err, "%s: SQLite says %s", fmt.Sprintf(format, args...), reason.Shown(said.Error()))
	}
	return fault.Wrap(kind, err, format, args...)
}

func kindOf(code int) fault.Kind {
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Overloaded
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Corrupt
	case sqlite3.SQLITE_FULL:
		return fault.DiskFull
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fault.Unavailable
	case sqlite3.SQLITE_INTERRUPT:
		return fault.Canceled
	case sqlite3.SQLITE_TOOBIG:
		return fault.TooLarge
	default:
		return fault.Internal
	}
}
