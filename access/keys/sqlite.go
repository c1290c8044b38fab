package keys

import (
	"context"
	"database/sql"
	"embed"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SQLite is a Store in a file of the data directory.
type SQLite struct{ db *sql.DB }

const fileName = "keys.db"

// InFolder reports whether a folder has the file of a SQLite store.
func InFolder(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, fileName))
	return err == nil
}

// OpenSQLite opens or creates keys.db in a folder.
func OpenSQLite(ctx context.Context, folder string) (*SQLite, error) {
	db, err := sqlite.Open(ctx, filepath.Join(folder, fileName), migrations)
	if err != nil {
		return nil, err
	}
	return &SQLite{db: db}, nil
}

// Close closes the file.
func (s *SQLite) Close() error { return sqlite.Fault(s.db.Close(), "closing the keys") }

// Load implements Store.
func (s *SQLite) Load(ctx context.Context) ([]Row, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT name, record, last_used FROM api_keys ORDER BY name")
	if err != nil {
		return nil, sqlite.Fault(err, "reading the keys")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []Row
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.Name, &r.Body, &r.LastUsed); err != nil {
			return nil, sqlite.Fault(err, "reading the keys")
		}
		all = append(all, r)
	}
	return all, sqlite.Fault(rows.Err(), "reading the keys")
}

// Insert implements Store.
func (s *SQLite) Insert(ctx context.Context, name string, body []byte) error {
	done, err := s.db.ExecContext(ctx,
		"INSERT INTO api_keys (name, record) VALUES (?, ?) ON CONFLICT DO NOTHING", name, string(body))
	return changedOne(done, err, fault.New(fault.Conflict, "there is, or was, a key of this name"))
}

// Update implements Store.
func (s *SQLite) Update(ctx context.Context, name string, old, body []byte) error {
	done, err := s.db.ExecContext(ctx,
		"UPDATE api_keys SET record = ? WHERE name = ? AND record = ?", string(body), name, string(old))
	return changedOne(done, err, fault.New(fault.Conflict, "the key was changed meanwhile, or is gone"))
}

func changedOne(done sql.Result, err, otherwise error) error {
	if err != nil {
		return sqlite.Fault(err, "writing a key")
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return otherwise
	}
	return sqlite.Fault(err, "writing a key")
}

// Touch implements Store.
func (s *SQLite) Touch(ctx context.Context, used map[string]int64) error {
	for name, when := range used {
		_, err := s.db.ExecContext(ctx,
			"UPDATE api_keys SET last_used = MAX(last_used, ?) WHERE name = ?", when, name)
		if err != nil {
			return sqlite.Fault(err, "noting the use of a key")
		}
	}
	return nil
}
