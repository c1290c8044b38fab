package main

import (
	"database/sql"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/search"
)

// TestBackupWhileInUse backs a gateway up between writes, and restores it elsewhere and over
// what there is.
//
// Promise: "it copies every data file" (docs/guide/en/backup.md).
// Promise: "compares every file with the manifest" (docs/guide/en/backup.md).
func TestBackupWhileInUse(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 2}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents", someChunks(0, 20), nil)
	backups := t.TempDir()
	to := filepath.Join(backups, "monday")
	old := command{t: t, folder: c.DataDir}
	old.want(cli.ExitOK, "", "backup "+to, "hybridge.db", "the backup is in")
	r.must(http.MethodPost, cli.BasePath("k")+"/documents", someChunks(20, 30), nil)
	old.want(cli.ExitFailed, "", "backup "+to, "is there already")
	r.stop()
	if left, err := os.ReadDir(backups); err != nil || len(left) != 1 {
		t.Errorf("%v, %v; want the backup alone", left, err)
	}

	fresh := command{t: t, folder: filepath.Join(t.TempDir(), "data")}
	fresh.want(cli.ExitOK, "", "restore "+to, "restored")
	fresh.want(cli.ExitOK, "", "kb show k", "20 chunks")
	fresh.want(cli.ExitOK, "", "kb check k", "0 chunks damaged")
	fresh.want(cli.ExitFailed, "", "restore "+to, "--overwrite")
	fresh.want(cli.ExitNotFound, "", "restore "+backups, "no backup")

	old.want(cli.ExitFailed, "", "restore "+to, "--overwrite")
	old.want(cli.ExitOK, "", "restore --overwrite "+to, "what was there is in")
	old.want(cli.ExitOK, "", "kb show k", "20 chunks")
	lock, _, err := datadir.Take(c.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	old.want(cli.ExitFailed, "", "restore --overwrite "+to, "another process uses")
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}

	spoil(t, filepath.Join(to, "hybridge.db"))
	old.want(cli.ExitFailed, "", "restore --overwrite "+to, "hybridge.db of the backup", "nothing was changed")
	old.want(cli.ExitOK, "", "kb show k", "20 chunks")

	if err := os.WriteFile(filepath.Join(c.DataDir, datadir.Unfinished), []byte(to), 0o600); err != nil {
		t.Fatal(err)
	}
	old.want(cli.ExitFailed, "", "kb show k", "was not finished", to)
}

// TestDamagedChunksComeFromABackup: those alone, the others stay as they have become since.
func TestDamagedChunksComeFromABackup(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	used, old := command{t: t, folder: filepath.Join(folder, "used")}, command{t: t, folder: filepath.Join(folder, "old")}
	backup, file := filepath.Join(folder, "backups", "monday"), filepath.Join(folder, "k.jsonl")
	used.want(cli.ExitOK, "", "kb create k --dimensions 2")
	if err := os.WriteFile(file, []byte(someChunks(0, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	used.want(cli.ExitOK, "", "ingest --kb k "+file)
	used.want(cli.ExitOK, "", "backup "+backup)
	if err := os.WriteFile(file, []byte(someChunks(18, 30)), 0o600); err != nil {
		t.Fatal(err)
	}
	used.want(cli.ExitOK, "", "ingest --kb k "+file)

	db, err := sql.Open("sqlite", filepath.Join(used.folder, "hybridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := db.ExecContext(t.Context(), "UPDATE chunks_1 SET body = replace(body, 'item', 'ITEM') WHERE id IN ('c003', 'c007')")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 2 {
		t.Fatalf("%d rows damaged, %v; want no error and n 2", n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	used.want(cli.ExitFailed, "", "kb check k", "2 chunks damaged", "c003", "c007")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	old.want(cli.ExitOK, "", "restore "+backup)
	old.want(cli.ExitOK, "", "kb export k "+file, "20 chunks")
	used.want(cli.ExitOK, "", "kb import --damaged "+file, "2 updated")
	used.want(cli.ExitOK, "", "kb check k", "0 chunks damaged")
	used.want(cli.ExitOK, "", "kb show k", "30 chunks")
	used.want(cli.ExitOK, "", "kb import --damaged "+file)
	used.want(cli.ExitNotFound, "", "kb import --damaged --kb other "+file, "other")
}

// TestDumpOfPostgres takes the way that the guide has for PostgreSQL: its own tools.
func TestDumpOfPostgres(t *testing.T) {
	t.Parallel()
	bin, err := exec.CommandContext(t.Context(), "../../scripts/install-postgres").Output() // that of the test servers
	if err != nil {
		skips.Missing(t, "there are no tools of PostgreSQL: "+err.Error())
	}
	from, to := devservices.NewDatabase(t), devservices.NewDatabase(t)
	dump := filepath.Join(t.TempDir(), "hybridge.dump")
	tool := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), filepath.Join(strings.TrimSpace(string(bin)), name), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, brief.Of(out))
		}
	}
	c := settingsIn(t.TempDir())
	c.Postgres.URL = from.URL
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": "postgres", "dimensions": 2}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", someChunks(0, 20), nil)
	want := found(r)
	tool("pg_dump", "--format=custom", "--schema=hybridge", "--file="+dump, from.URL) // while it runs
	r.stop()
	to.Exec("CREATE EXTENSION IF NOT EXISTS vector")
	tool("pg_restore", "--exit-on-error", "--no-owner", "--dbname="+to.URL, dump)
	c = settingsIn(t.TempDir())
	c.Postgres.URL = to.URL
	r = run(t, c)
	defer r.stop()
	if got := found(r); got != want || want == "" {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestSnapshotOfElasticsearch takes the way that the guide has for Elasticsearch: its own snapshots.
func TestSnapshotOfElasticsearch(t *testing.T) {
	t.Parallel()
	server, prefix := devservices.Indices(t)
	repository := server + "/_snapshot/" + prefix
	gateway := func() *running {
		c := settingsIn(t.TempDir())
		c.Elasticsearch.URL, c.Elasticsearch.IndexPrefix = []string{server}, prefix
		return run(t, c)
	}
	r := gateway()
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": "elasticsearch", "dimensions": 2}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", someChunks(0, 20), nil)
	want := found(r)
	devservices.Talk(t, http.MethodPut, repository, `{"type": "fs", "settings": {"location": "`+prefix+`"}}`)
	devservices.Talk(t, http.MethodPut, repository+"/monday?wait_for_completion=true", // while it runs
		`{"indices": "`+prefix+`-*", "include_global_state": false}`)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", someChunks(20, 40), nil) // too late for monday
	r.stop()
	devservices.RemoveIndices(t, server, prefix)
	devservices.Talk(t, http.MethodPost, repository+"/monday/_restore?wait_for_completion=true", `{"indices": "`+prefix+`-*"}`)
	r = gateway()
	defer r.stop()
	if got := found(r); got != want || want == "" {
		t.Errorf("found %q, want %q", got, want)
	}
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true", someChunks(20, 40), nil)
	devservices.Talk(t, http.MethodDelete, repository+"/monday", "")
	devservices.Talk(t, http.MethodDelete, repository, "")
}

// found gives the ids of what a knowledge base of someChunks answers, in order.
func found(r *running) string {
	hits := r.search(search.Request{Query: "refund of item 7", KnowledgeBases: []string{"k"}, Preset: "balanced", Vector: []float32{1, 7}}).Hits
	var ids []string
	for i := range hits {
		ids = append(ids, hits[i].ID)
	}
	return strings.Join(ids, " ")
}

// TestABackupHasRecords, which are in the data file with the chunks.
func TestABackupHasRecords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	records := func(data string) *embedded.Engine {
		t.Helper()
		e, err := embedded.Open(t.Context(), embedded.Options{Path: data, Tokenizer: enginetest.Words{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	used, fresh := filepath.Join(folder, "used"), filepath.Join(folder, "fresh")
	e := records(used)
	saved, err := e.SaveRecords(t.Context(), engine.Records{
		RecordRef: engine.RecordRef{Tenant: "default", Kind: "run", ID: "nightly"}, Head: []byte(`{"preset": "hybrid"}`),
	})
	if err == nil {
		err = e.PutItems(t.Context(), saved.RecordRef, []engine.RecordItem{{Key: "q1", Body: []byte(`{"hits": ["退款"]}`)}})
	}
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(folder, "monday")
	old, restored := command{t: t, folder: used}, command{t: t, folder: fresh}
	old.want(cli.ExitOK, "", "backup "+backup, "the backup is in")
	restored.want(cli.ExitOK, "", "restore "+backup, "restored")

	e = records(fresh)
	found, err := e.Records(t.Context(), saved.RecordRef)
	if err != nil || found.Version != saved.Version || string(found.Head) != string(saved.Head) {
		t.Errorf("restored %+v, %v; want %+v", found, err, saved)
	}
	items, err := e.Items(t.Context(), saved.RecordRef, engine.ItemPage{Limit: 10})
	if err != nil || len(items) != 1 || string(items[0].Body) != `{"hits": ["退款"]}` {
		t.Errorf("restored %q, %v; want no error and 1 items and string(items[0].Body) `{\"hits\": [\"退款\"]}`", items, err)
	}
}
