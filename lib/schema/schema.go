// Package schema says whether a program may use stored data of another version of it. Every
// store has a table of one row, which its migrations keep:
//
//	CREATE TABLE store (schema INTEGER NOT NULL, min_reader INTEGER NOT NULL);
//
// schema is the number of the last migration; min_reader is the oldest schema whose programs
// may read and write the store. A migration that only adds leaves min_reader as it is.
package schema

import (
	"context"
	"database/sql"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Version is the version of a store; the zero value means that it does not exist yet. A
// store older than the table has the number of its last migration twice.
type Version struct{ Schema, MinReader int }

// Of reads the version of a store, given the statement that tells whether it has a table
// store, and whether it has the one that counts its migrations.
func Of(ctx context.Context, db *sql.DB, tables string) (v Version, err error) {
	var store, counted bool
	err = db.QueryRowContext(ctx, tables).Scan(&store, &counted)
	switch {
	case err != nil:
	case store:
		err = db.QueryRowContext(ctx, "SELECT schema, min_reader FROM store").Scan(&v.Schema, &v.MinReader)
	case counted: // from before there was the table
		err = db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied").
			Scan(&v.Schema)
		v.MinReader = v.Schema
	}
	return v, err
}

// Latest is the number of the last of the files migrations/*.sql, which is the schema of the
// program.
func Latest(migrations fs.FS) (int, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	latest := 0
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			return 0, err
		}
		latest = max(latest, n)
	}
	return latest, nil
}

// Readable refuses a store that a program of a schema must not use: fault.Unsupported.
func (v Version) Readable(store string, program int) error {
	if v.MinReader <= program {
		return nil
	}
	return fault.New(fault.Unsupported, "%s was written by a newer version: its schema is %d, which programs of schema "+
		"%d and above can use, and that of this one is %d; start the newer version again, or restore the backup "+
		"from before the upgrade", store, v.Schema, v.MinReader, program)
}
