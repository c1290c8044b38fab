package quota

import (
	"context"
	"database/sql"
	"embed"
	"path/filepath"

	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Store is where the bytes that tenants write are counted. Implementations are safe for
// concurrent use and shared by all gateways of the same data; internal/quotatest holds them to
// one suite.
type Store interface {
	// Add adds bytes to what each tenant has written on a day (as 2006-01-02, UTC) and gives the
	// sums; 0 asks for a sum. A later day begins at 0. Of a day that is over nothing is
	// counted, and the sum is the later day's. With an error it gives the sums of the tenants whose
	// bytes were added.
	Add(ctx context.Context, day string, bytes map[string]int64) (map[string]int64, error)
}

//go:embed migrations/*.sql
var migrations embed.FS

// SQLite is a Store in a file of the data directory.
type SQLite struct{ db *sql.DB }

// OpenSQLite opens or creates usage.db in a folder.
func OpenSQLite(ctx context.Context, folder string) (*SQLite, error) {
	db, err := sqlite.Open(ctx, filepath.Join(folder, "usage.db"), migrations)
	if err != nil {
		return nil, err
	}
	return &SQLite{db: db}, nil
}

// Close closes the file.
func (s *SQLite) Close() error { return sqlite.Fault(s.db.Close(), "closing the usage of tenants") }

// Add implements Store.
func (s *SQLite) Add(ctx context.Context, day string, bytes map[string]int64) (map[string]int64, error) {
	sums := make(map[string]int64, len(bytes))
	for tenant, n := range bytes {
		var sum int64
		err := s.db.QueryRowContext(ctx, `INSERT INTO tenant_usage AS u (tenant, day, bytes) VALUES (?, ?, ?)
			ON CONFLICT (tenant) DO UPDATE SET
				bytes = CASE WHEN u.day = excluded.day THEN u.bytes + excluded.bytes
					WHEN u.day < excluded.day THEN excluded.bytes ELSE u.bytes END,
				day = MAX(u.day, excluded.day)
			RETURNING bytes`, tenant, day, n).Scan(&sum)
		if err != nil {
			return sums, sqlite.Fault(err, "counting the bytes of tenant %q", tenant)
		}
		sums[tenant] = sum
	}
	return sums, nil
}
