package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/hybridge-search/hybridge/lib/schema"
)

// stepPages are copied in one go: 4 MB of the pages that Connect asks for.
const stepPages = 256

// Backup copies a data file, as it is at the beginning, to a new one, whole and synced, while
// others write. progress is told after each few pages. What it leaves after an error is no
// data file.
func Backup(ctx context.Context, from, to string, progress func(done, total int)) error {
	db, err := open(from, "mode=rw&_pragma=busy_timeout(10000)")
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
	target, err := address(to, "_pragma=synchronous(OFF)") // synced after
	if err != nil {
		return err
	}
	return conn.Raw(func(driver any) error {
		source, ok := driver.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("the driver %T has no backup", driver)
		}
		copying, err := source.NewBackup(target)
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

// Contents summarises a data file.
type Contents struct {
	Version schema.Version
	Rows    map[string]int64 // by table
}

// Look reads what a data file holds that nobody else uses, after prepare.
func Look(ctx context.Context, path string, prepare func(*sql.DB) error) (c Contents, err error) {
	db, err := Connect(path, 1, Immediate)
	if err != nil {
		return c, Fault(err, "reading the data file %s", path)
	}
	if err = prepare(db); err == nil {
		c, err = look(ctx, db)
	}
	err = errors.Join(err, db.Close()) // which empties the log
	if err == nil {
		err = synced(path)
	}
	return c, Fault(err, "reading the data file %s", path)
}

func look(ctx context.Context, db *sql.DB) (c Contents, err error) {
	if c.Version, err = schema.Of(ctx, db, tables); err != nil {
		return c, err
	}
	names, err := tableNames(ctx, db)
	c.Rows = make(map[string]int64, len(names))
	for _, name := range names {
		if err == nil {
			var n int64
			err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM "`+name+`"`).Scan(&n)
			c.Rows[name] = n
		}
	}
	return c, err
}

func tableNames(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		name := ""
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
