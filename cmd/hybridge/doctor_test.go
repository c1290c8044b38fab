package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/internal/brief"
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
			Findings []finding
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || got != code || report.Healthy != (code == exitOK) {
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
	f("", nil, exitOK, "data directory", isFine, "does not exist yet")
	f("", []string{"LANG=zh_CN.UTF-8"}, exitOK, "data directory", isFine, "尚不存在")
	f("--listen nowhere", nil, exitFailed, "configuration", isProblem, "listen")
	f("--data-dir "+file, nil, exitFailed, "data directory", isProblem, "is no folder")
	f("--elasticsearch-url "+elastic, nil, exitOK, "elasticsearch", isFine, "answers, the cluster is")
	f("--elasticsearch-url http://127.0.0.1:1", nil, exitFailed, "elasticsearch", isProblem, "start that server")
	f("--postgres-url "+database, nil, exitOK, "postgres", isFine, "PostgreSQL")
	f("--postgres-url postgres://u:hush-hush@127.0.0.1:1/x", nil, exitFailed, "postgres", isProblem, "start that server")
	f("--postgres-url "+wrong.String(), nil, exitFailed, "postgres", isProblem, "correct the user name, the password")
	f("", []string{"HYBRIDGE_REDIS_URL=" + devservices.Redis(t)}, exitOK, "redis", isFine, "answers")
	f("", []string{"HYBRIDGE_REDIS_URL=redis://:hush-hush@127.0.0.1:1/0"}, exitFailed, "redis", isProblem, "does not answer")
	f(embedding, []string{"HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"}, exitOK, "embedding", isFine, "384 dimensions")
	f(embedding, []string{"HYBRIDGE_EMBEDDING_DIMENSIONS=100", "HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"},
		exitFailed, "embedding", isProblem, "100")
	further := `HYBRIDGE_EMBEDDINGS={"away": {"url": "http://127.0.0.1:1", "api_key": "hush-hush", "retries": 1}}`
	f(embedding, []string{further, "HYBRIDGE_EMBEDDING_DISABLE_KEEP_ALIVES=true"}, exitFailed, "embedding", isProblem, "embeddings[away].url")
	f("", []string{"HYBRIDGE_USER_DICTIONARY=" + folder + "/absent"}, exitFailed, "dictionary", isProblem, "absent")
	f("--server http://127.0.0.1:1", nil, exitFailed, "gateway", isProblem, "does not answer")
	if _, err := os.Stat(filepath.Join(folder, "none")); err == nil {
		t.Error("the data directory was made")
	}
	c := command{t: t, folder: filepath.Join(folder, "used")}
	c.want(exitOK, "", "kb create a --dimensions 0")
	c.want(exitOK, "", "doctor", fmt.Sprintf("%s can be written", c.folder), "no process uses it", "of a version that this one reads")
}

// TestDoctorMindsWatermarks where the cluster does.
func TestDoctorMindsWatermarks(t *testing.T) {
	t.Parallel()
	f := func(path elastic.PathExamination, want ...string) {
		t.Helper()
		now := time.Now()
		node := elastic.NodeExamination{Name: "one", Paths: []elastic.PathExamination{path}, Clock: now}
		var states []string
		for _, one := range nodeFindings(&elastic.Examination{Nodes: []elastic.NodeExamination{node}}, now) {
			states = append(states, one.State)
		}
		if !slices.Equal(states, want) {
			t.Errorf("%+v: %v, want %v", path, states, want)
		}
	}
	f(elastic.PathExamination{Free: 4 << 20, Low: 3 << 20, Flood: 1 << 20})
	f(elastic.PathExamination{Free: 2 << 20, Low: 3 << 20, Flood: 1 << 20}, isWarning)
	f(elastic.PathExamination{Free: 0, Low: 3 << 20, Flood: 1 << 20}, isProblem)
	f(elastic.PathExamination{Free: 0}) // the cluster does not mind
}
