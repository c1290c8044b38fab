package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/schema"
)

// Examine reads the version of a file, which nobody may be writing, and changes nothing.
// fault.Unsupported when it is a newer one; fault.NotFound when there is no file.
func Examine(ctx context.Context, path string, migrations fs.FS) (err error) {
	if _, err = os.Stat(path); err != nil {
		return fault.Wrap(fault.NotFound, err, "the data file %s", path)
	}
	// Without immutable, reading would make the files that go with a write-ahead log.
	db, err := open(path, "mode=ro&immutable=1")
	if err != nil {
		return Fault(err, "opening the data file %s", path)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	program, err := schema.Latest(migrations)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "reading the migrations")
	}
	stored, err := schema.Of(ctx, db, tables)
	if err != nil {
		return Fault(err, "reading the data file %s", path)
	}
	return stored.Readable("the data file "+path, program)
}
