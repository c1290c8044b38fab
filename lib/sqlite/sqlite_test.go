package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// TestSettings: the driver orders them as it likes, and one of them depends on it.
func TestSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with space ?#%.db")
	db, err := sqlite.Connect(path, 1, sqlite.Immediate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	f := func(setting, want string) {
		t.Helper()
		got := ""
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", setting, got, err, want)
		}
	}
	f("page_size", "16384")
	f("journal_mode", "wal")
	f("synchronous", "1") // NORMAL
	f("foreign_keys", "1")
	f("busy_timeout", "10000")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
