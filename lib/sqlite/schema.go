package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/schema"
)

// Migrate brings the schema of a file up to date by migrations/*.sql, and copies the file
// before, beside it. A file of a newer version is left as it is where it may be used, else it
// is a fault.Unsupported.
func Migrate(ctx context.Context, db *sql.DB, path string, migrations fs.FS) error {
	program, err := schema.Latest(migrations)
	if err != nil {
		return err
	}
	stored, err := schema.Of(ctx, db, tables)
	if err != nil {
		return err
	}
	if err := stored.Readable("the data file "+path, program); err != nil {
		return err
	}
	if stored.Schema >= program {
		return nil
	}
	if stored.Schema > 0 {
		if err := backUp(ctx, db, path, stored.Schema); err != nil {
			return err
		}
	}
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps)
	if err != nil {
		return err
	}
	if _, err = provider.Up(ctx); err != nil {
		return err
	}
	if stored, err = schema.Of(ctx, db, tables); err == nil && stored.Schema != program {
		err = fault.New(fault.Internal, "migration %d leaves the schema at %d", program, stored.Schema)
	}
	return err
}

// tables tells whether a file has the two that schema.Of reads.
const tables = `SELECT COALESCE(MAX(name = 'store'), 0), COALESCE(MAX(name = 'goose_db_version'), 0)
	FROM sqlite_master WHERE type = 'table'`

// backUp copies a file, whole and synced, beside it.
func backUp(ctx context.Context, db *sql.DB, path string, of int) error {
	name := fmt.Sprintf("%s.schema%d-%s.bak", path, of, time.Now().UTC().Format("20060102T150405.000Z"))
	part := name + ".part"
	_, err := db.ExecContext(ctx, "VACUUM INTO ?", part)
	if err == nil {
		err = synced(part)
	}
	if err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		return Fault(errors.Join(err, os.Remove(part)),
			"copying the data file %s before its upgrade; nothing was changed", path)
	}
	return nil
}

func synced(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // a file of ours
	if err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
}
