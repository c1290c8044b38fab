package sqlite_test

import (
	"os"
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

// TestNamesAreOfTheWorkingDirectory, as users give them: none is taken for a host.
func TestNamesAreOfTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	db, err := sqlite.Connect("some.db", 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE one (n)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join("folder", "copy.db")
	if err := sqlite.Backup(t.Context(), "some.db", to, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	copied, err := sqlite.Connect(to, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close() //nolint:errcheck // it was only read
	var n int
	if err := copied.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM one").Scan(&n); err != nil || n != 0 {
		t.Errorf("the copy: %d rows, %v; want no error and n 0", n, err)
	}
}
