package main

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/search"
)

// oldData is what earlier versions have written, a folder a commit, and stays as it is: a
// data directory, and PostgreSQL's dump of a schema. Every later version reads it.
const oldData = "testdata/old"

func TestOldDataIsRead(t *testing.T) {
	commits, err := os.ReadDir(oldData)
	if err != nil || len(commits) == 0 {
		t.Fatal(commits, err)
	}
	for _, commit := range commits {
		from := filepath.Join(oldData, commit.Name())
		t.Run(commit.Name()+"/embedded", func(t *testing.T) {
			t.Parallel()
			c := dataOf(t, from)
			searchesOldData(t, c, "embedded")
			copies, err := filepath.Glob(filepath.Join(c.DataDir, "*.bak"))
			if err != nil || len(copies) != 3 {
				t.Errorf("copies from before the upgrade: %v, %v; want one of each data file", copies, err)
			}
			searchesOldData(t, c, "embedded") // upgraded before
			// The copy is what there was.
			again := dataOf(t, from)
			for _, name := range copies {
				to, _, _ := strings.Cut(filepath.Base(name), ".schema")
				if err := os.Rename(name, filepath.Join(again.DataDir, to)); err != nil {
					t.Fatal(err)
				}
			}
			searchesOldData(t, again, "embedded")
		})
		t.Run(commit.Name()+"/postgres", func(t *testing.T) {
			t.Parallel()
			c := settingsIn(t.TempDir())
			d := restored(t, filepath.Join(from, "postgres.sql"))
			c.Postgres.URL, c.Postgres.KeywordWait = d.URL, 10*time.Second // other tests keep the machine busy
			searchesOldData(t, c, "postgres")
			d.Exec("UPDATE hybridge.store SET schema = schema + 1")
			searchesOldData(t, c, "postgres")
			d.Exec("UPDATE hybridge.store SET min_reader = schema")
			if _, err := app.Open(t.Context(), app.Options{Config: c, Preload: true}); !fault.Is(err, fault.Unsupported) {
				t.Errorf("of a newer version: %v; want an error of kind Unsupported", err)
			}
		})
	}
}

// dataOf copies a data directory.
func dataOf(t *testing.T, from string) *config.Config {
	t.Helper()
	c := settingsIn(t.TempDir())
	if err := os.CopyFS(c.DataDir, os.DirFS(filepath.Join(from, "data"))); err != nil {
		t.Fatal(err)
	}
	return c
}

// restored makes a database of a dump.
func restored(t *testing.T, dump string) *devservices.Database {
	t.Helper()
	statements, err := os.ReadFile(dump) //nolint:gosec // test data
	if err != nil {
		t.Fatal(err)
	}
	d := devservices.NewDatabase(t)
	d.Exec("CREATE EXTENSION IF NOT EXISTS vector;\n" + string(statements))
	return d
}

// searchesOldData holds an engine to what the old program was given.
func searchesOldData(t *testing.T, c *config.Config, engine string) {
	t.Helper()
	r := run(t, c)
	defer r.stop()
	f := func(kb, query string, vector []float32, want string) {
		t.Helper()
		for _, preset := range []string{"balanced", "text", "vector"} {
			answer := r.search(search.Request{
				Query: query, KnowledgeBases: []string{kb + "-" + engine}, Vector: vector, Preset: preset,
			})
			if len(answer.Degraded) > 0 || len(answer.Hits) == 0 || answer.Hits[0].ID != want {
				t.Errorf("%s, %s: hits %+v, degraded %+v; want %s", query, preset, answer.Hits, answer.Degraded, want)
			}
		}
	}
	f("guide", "refund card", []float32{1, 0, 0, 0}, "refund-en")
	f("guide", "北京列车", []float32{0, 0, 0, 1}, "train-zh")
	f("faq", "money back", []float32{1, 0, 0, 0}, "q1")
	f("faq", "煮咖啡", []float32{0, 0, 1, 0}, "q2")
	if n := r.chunks("guide-" + engine); n != 5 {
		t.Errorf("%d chunks; want n 5", n)
	}
	if engine == "embedded" {
		_, set := r.ask(http.MethodGet, "/v1/synonyms/global", "")
		if !strings.Contains(string(set), "money back") {
			t.Errorf(`synonyms %s; want "money back" in it`, brief.Of(set))
		}
	}
}

// TestDataOfANewerVersion is read where what is new was added, and refused and left as it is
// where this version could not read it.
func TestDataOfANewerVersion(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	r.stop()
	for _, name := range []string{"hybridge.db", "outbox.db", "synonyms.db"} {
		set := func(statement string) {
			t.Helper()
			db, err := sqlite.Connect(filepath.Join(c.DataDir, name), 1, sqlite.Immediate)
			if err != nil {
				t.Fatal(err)
			}
			defer func(db *sql.DB) { _ = db.Close() }(db)
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		set("UPDATE store SET schema = schema + 1")
		added := run(t, c)
		added.must(http.MethodGet, cli.BasePath("k"), nil, nil)
		added.stop()
		set("UPDATE store SET min_reader = schema")
		_, err := app.Open(t.Context(), app.Options{Config: c, Preload: true})
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("%s of a newer version: %v", name, err)
		}
		set("UPDATE store SET schema = schema - 1, min_reader = schema - 1")
	}
}
