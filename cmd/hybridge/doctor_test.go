package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// What is wrong is said by the check that it belongs to, without secrets, with exit code 1.
//
// Promise: "asks every part whether it works" (docs/guide/en/operating.md).
// Promise: "asks every part" (docs/guide/en/troubleshooting.md).
func TestDoctor(t *testing.T) {
	t.Parallel()
	database, elastic := devservices.NewDatabase(t).URL, devservices.Elasticsearch(t)
	wrong, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword("nobody", "hush-hush")
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("bad \x00 line => => x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	embedding := "--embedding-url " + devservices.Embedding(t) + " --embedding-model multilingual-e5-small"
	f := func(args string, environ []string, code int, check, state, says string) {
		t.Helper()
		c := command{t: t, folder: filepath.Join(folder, "none"), environ: append(environ, "HYBRIDGE_EMBEDDING_LOCAL_ENABLED=off")}
		got, out, errs := c.run("", strings.Fields("doctor --json "+args)...)
		for tries := 1; tries < 5 && strings.Contains(out, "took longer"); tries++ { // a busy machine
			got, out, errs = c.run("", strings.Fields("doctor --json "+args)...)
		}
		var report struct {
			Healthy  bool
			Findings []struct{ Check, State, Detail, Advice string }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || got != code || report.Healthy != (code == cli.ExitOK) {
			t.Fatalf("%s: %d %s %s %v", args, got, brief.Of(out), errs, err)
		}
		if strings.Contains(out+errs, "hush-hush") {
			t.Errorf(`%s: a secret in %s %s; want no "hush-hush" in it`, args, brief.Of(out), errs)
		}
		for _, one := range report.Findings {
			if one.Check == check && one.State == state && strings.Contains(one.Detail+one.Advice, says) {
				return
			}
		}
		t.Errorf("%s: no %s of %s that says %q in %+v", args, state, check, says, report.Findings)
	}
	f("", nil, cli.ExitOK, "data directory", "ok", "does not exist yet")
	f("", []string{"LANG=zh_CN.UTF-8"}, cli.ExitOK, "data directory", "ok", "尚不存在")
	f("--listen nowhere", nil, cli.ExitFailed, "configuration", "problem", "listen")
	f("--data-dir "+file, nil, cli.ExitFailed, "data directory", "problem", "is no folder")
	f("--elasticsearch-url "+elastic, nil, cli.ExitOK, "elasticsearch", "ok", "answers, the cluster is")
	f("--elasticsearch-url http://127.0.0.1:1", nil, cli.ExitFailed, "elasticsearch", "problem", "start that server")
	f("--postgres-url "+database, nil, cli.ExitOK, "postgres", "ok", "PostgreSQL")
	f("--postgres-url postgres://u:hush-hush@127.0.0.1:1/x", nil, cli.ExitFailed, "postgres", "problem", "start that server")
	f("--postgres-url "+wrong.String(), nil, cli.ExitFailed, "postgres", "problem", "correct the user name, the password")
	f("", []string{"HYBRIDGE_REDIS_URL=" + devservices.Redis(t)}, cli.ExitOK, "redis", "ok", "answers")
	f("", []string{"HYBRIDGE_REDIS_URL=redis://:hush-hush@127.0.0.1:1/0"}, cli.ExitFailed, "redis", "problem", "does not answer")
	f(embedding, []string{"HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"}, cli.ExitOK, "embedding", "ok", "384 dimensions")
	f(embedding, []string{"HYBRIDGE_EMBEDDING_DIMENSIONS=100", "HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"},
		cli.ExitFailed, "embedding", "problem", "100")
	further := `HYBRIDGE_EMBEDDINGS={"away": {"url": "http://127.0.0.1:1", "api_key": "hush-hush", "retries": 1}}`
	f(embedding, []string{further, "HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"}, cli.ExitFailed, "embedding", "problem", "embeddings[away].url")
	f("", []string{"HYBRIDGE_USER_DICTIONARY=" + folder + "/absent"}, cli.ExitFailed, "dictionary", "problem", "absent")
	f("--server http://127.0.0.1:1", nil, cli.ExitFailed, "gateway", "problem", "does not answer")
	if _, err := os.Stat(filepath.Join(folder, "none")); err == nil {
		t.Error("the data directory was made")
	}
	c := command{t: t, folder: filepath.Join(folder, "used")}
	c.want(cli.ExitOK, "", "kb create a --dimensions 0")
	c.want(cli.ExitOK, "", "doctor", fmt.Sprintf("%s can be written", c.folder), "no process uses it", "of a version that this one reads")
}
