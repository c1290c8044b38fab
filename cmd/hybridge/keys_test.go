package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// Keys are made on the command line and hold in the gateway that runs, and the audit log says
// who did what without saying what was asked.
func TestStoredKeys(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Audit.Path = filepath.Join(t.TempDir(), "audit.jsonl")
	c.Keys = []config.Key{{Name: "root", Key: "root", Tenant: "default", Attach: []string{"ragflow_*"}}}
	b := &bound{running: run(t, c)}
	line := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + b.url, "HYBRIDGE_KEY=root"}}
	b.as("root", http.MethodPost, "/v1/knowledge-bases", `{"id": "kb", "dimensions": 0}`, http.StatusCreated)
	code, out, errs := line.run("", "keys", "create", "web", "--roles", "search,operate", "--expires", "1h")
	web := strings.TrimSpace(out)
	if code != cli.ExitOK || !strings.HasPrefix(web, "hyb_") {
		t.Fatalf(`%d %s %s; want code exitOK and one that begins with "hyb_"`, code, brief.Of(out), errs)
	}
	const search = `{"query": "whispered", "knowledge_bases": ["kb"]}`
	b.as(web, http.MethodPost, "/v1/search", search, http.StatusOK)
	b.as(web, http.MethodDelete, "/v1/knowledge-bases/kb", "", http.StatusForbidden)
	b.as(web, http.MethodPost, "/v1/keys", `{"name": "more", "roles": ["write"]}`, http.StatusForbidden)
	b.as(web, http.MethodPost, "/v1/keys", `{"name": "less"}`, http.StatusCreated)
	b.as(web, http.MethodPost, "/v1/keys", `{"name": "root"}`, http.StatusConflict)
	line.want(cli.ExitOK, "", "keys list", "web", "search,operate", "until ", "less")
	if strings.Contains(b.as("root", http.MethodGet, "/v1/keys", "", http.StatusOK), web) {
		t.Error("the key itself is shown again")
	}
	code, out, _ = line.run("", "keys", "rotate", "web")
	next := strings.TrimSpace(out)
	if code != cli.ExitOK || next == web {
		t.Errorf("rotate: %d %s", code, brief.Of(out))
	}
	b.as(web, http.MethodPost, "/v1/search", search, http.StatusUnauthorized)
	b.as(next, http.MethodPost, "/v1/search", search, http.StatusOK)
	b.as("root", http.MethodPost, "/v1/keys", `{"name": "wide", "roles": ["write"]}`, http.StatusCreated)
	b.as(next, http.MethodDelete, "/v1/keys/wide", "", http.StatusForbidden)
	b.as(next, http.MethodPost, "/v1/keys/wide/rotate", "", http.StatusForbidden)
	b.as("root", http.MethodPost, "/v1/keys", `{"name": "a", "attach": ["other_*"]}`, http.StatusBadRequest)
	b.as("root", http.MethodPost, "/v1/keys", `{"name": "a", "attach": ["rag[f]low"]}`, http.StatusBadRequest)
	b.as("root", http.MethodPost, "/v1/keys", `{"name": "a", "attach": ["ragflow_1*"]}`, http.StatusCreated)
	c.Listen = "0.0.0.0:80" // nothing reads it while the gateway runs
	if err := b.app.CheckDoor(); err != nil {
		t.Errorf("stored keys do not count: %v", err)
	}
	line.want(cli.ExitOK, "", "keys revoke web", "revoked web")
	b.as(next, http.MethodPost, "/v1/search", search, http.StatusUnauthorized)
	line.want(cli.ExitNotFound, "", "keys revoke nobody", "there is no valid key")
	line.want(cli.ExitUsage, "", "keys create x --roles king", "roles", "manage")
	log, err := os.ReadFile(c.Audit.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"key":"web","tenant":"default"`, `"route":"/v1/search","path":"/v1/search","outcome":"done"`, `"outcome":"refused"`,
	} {
		if !strings.Contains(string(log), want) {
			t.Errorf("the audit log has no %s: %s", want, brief.Of(log))
		}
	}
	if strings.Contains(string(log), "whispered") || strings.Contains(string(log), web) {
		t.Errorf("the audit log says too much: %s", brief.Of(log))
	}
}
