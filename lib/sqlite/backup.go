package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// stepPages are copied in one go: 4 MB of the pages that Connect asks for.
const stepPages = 256

// Backup copies a data file, as it is at the beginning, to a new one, whole and synced, while
// others write. progress is told after each few pages. What it leaves after an error is no
// data file.
func Backup(ctx context.Context, from, to string, progress func(done, total int)) error {
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(from), RawQuery: "mode=rw&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", source.String())
	if err == nil {
		err = errors.Join(backup(ctx, db, to, progress), db.Close())
	}
	if err == nil {
		err = synced(to)
	}
	return Fault(err, "copying the data file %s", from)
}

func backup(ctx context.Context, db *sql.DB, to string, progress func(done, total int)) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it ends with the pool
	// A transaction that reads keeps the pages as they are, however long it takes.
	var n int
	if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil {
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master").Scan(&n)
	}
	if err != nil {
		return err
	}
	if err := MakePrivate(to); err != nil {
		return err
	}
	target := url.URL{Scheme: "file", Path: filepath.ToSlash(to), RawQuery: "_pragma=synchronous(OFF)"} // synced after
	return conn.Raw(func(driver any) error {
		source, ok := driver.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("the driver %T has no backup", driver)
		}
		copying, err := source.NewBackup(target.String())
		if err != nil {
			return err
		}
		return errors.Join(step(ctx, copying, progress), copying.Finish())
	})
}

func step(ctx context.Context, copying *sqlite.Backup, progress func(done, total int)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := copying.Step(stepPages)
		if err != nil {
			return err
		}
		total := copying.PageCount()
		progress(total-copying.Remaining(), total)
		if !more {
			return nil
		}
	}
}
