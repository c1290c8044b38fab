package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
)

// TestSynonymsWithoutARestart: an edit changes the next answer, a rollback takes
// it back, and both outlive the program.
func TestSynonymsWithoutARestart(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	if status, answer := r.ask(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", bilingual); status != 200 {
		t.Fatalf("ingest: %d %s; want status 200", status, brief.Of(answer))
	}
	finds := func(r *running) int {
		t.Helper()
		return len(r.search(search.Request{Query: "espresso", KnowledgeBases: []string{"shop"}, Preset: "script_score"}).Hits)
	}
	if n := finds(r); n != 0 {
		t.Fatalf("%d hits before the edit; want n 0", n)
	}
	var effects versioned.SynonymEffects
	r.must(http.MethodPost, "/v1/synonyms/shop/effects",
		map[string]any{"queries": []string{"espresso"}, "text": "espresso => coffee^0.9", "preset": "script_score"}, &effects)
	if q := effects.Questions; len(q) != 1 || len(q[0].Current.Hits) != 0 || len(q[0].Draft.Hits) != 1 ||
		len(q[0].Draft.Synonyms) != 1 || finds(r) != 0 {
		t.Errorf("a draft has the effects %+v; want 1 q and no q[0].Current.Hits and 1 q[0].Draft.Hits and 1 q[0].Draft.Synonyms and finds(r) 0", q)
	}
	var v synonyms.Version
	r.must(http.MethodPut, "/v1/synonyms/shop", map[string]any{"text": "espresso => coffee^0.9"}, &v)
	if n := finds(r); n != 1 || v.Version != 1 || v.Rules != 1 {
		t.Errorf("%d hits with %+v; want n 1 and v.Version 1 and v.Rules 1", n, v)
	}
	if status, answer := r.ask(http.MethodPut, "/v1/synonyms/shop", `{"text": "ok, fine\n=> broken"}`); status != 400 ||
		!strings.Contains(string(answer), "2") {
		t.Errorf(`a bad line: %d %s; want status 400 and "2" in it`, status, brief.Of(answer))
	}
	r.must(http.MethodPut, "/v1/synonyms/shop", map[string]any{"text": ""}, nil)
	if n := finds(r); n != 0 {
		t.Errorf("%d hits without synonyms", n)
	}
	r.must(http.MethodPost, "/v1/synonyms/shop/rollback", map[string]any{"version": 1}, &v)
	r.stop()
	again := run(t, c)
	defer again.stop()
	if n := finds(again); n != 1 || v.Version != 3 {
		t.Errorf("%d hits after a rollback to %+v and a restart; want n 1 and v.Version 3", n, v)
	}
	again.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
	again.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	var left synonyms.Version
	again.must(http.MethodGet, "/v1/synonyms/shop", nil, &left)
	if left.Text != "" {
		t.Errorf(`a new knowledge base begins with %+v; want left.Text ""`, left)
	}
}

func TestSynonymCommands(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	file := filepath.Join(t.TempDir(), "s.txt")
	if err := os.WriteFile(file, []byte("退款, 退钱^0.8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "kb create shop")
	c.want(cli.ExitOK, "", "synonyms save shop "+file+" --comment first", "version 1 with 1 rules")
	c.want(cli.ExitOK, "", "synonyms list", "shop", "first")
	c.want(cli.ExitOK, "", "synonyms show shop", "退款, 退钱^0.8")
	c.want(cli.ExitOK, "", "synonyms try shop 如何申请退款", "退款 → 退钱 (0.8")
	c.want(cli.ExitOK, "hello => hi", "synonyms try shop hello --draft -", "nothing", "hello → hi")
	c.want(cli.ExitFailed, "a, b", "synonyms save shop - --base 7", "base_version is 7")
	c.want(cli.ExitUsage, "=> b", "synonyms save shop -", "1")
	c.want(cli.ExitOK, "", "synonyms rollback shop 1", "version 2")
	c.want(cli.ExitOK, "", "synonyms history shop", "back to version 1")
	c.want(cli.ExitOK, "", "synonyms show shop --json", `"version": 2`)
	c.want(cli.ExitUsage, "", "synonyms rollback shop x", "VERSION")
	c.want(cli.ExitNotFound, "", "synonyms show absent", "does not exist")
	c.want(cli.ExitNotFound, "", "synonyms save shop /nonexistent", "/nonexistent")
}
