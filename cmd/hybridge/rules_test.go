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
)

// TestRulesWithoutARestart: an edit changes the next answer, also where one was kept; a rollback
// takes it back, and both outlive the program.
//
// Promise: "hold at once on every" (docs/guide/en/synonyms.md).
func TestRulesWithoutARestart(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	if status, answer := r.ask(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", bilingual); status != 200 {
		t.Fatalf("ingest: %d %s; want status 200", status, brief.Of(answer))
	}
	asked := search.Request{Query: "coffee", KnowledgeBases: []string{"shop"}, Preset: "text"}
	plain := r.search(asked)
	if len(plain.Hits) == 0 {
		t.Fatal("no hit to hide")
	}
	hidden := plain.Hits[0].ID
	finds := func(r *running) (n int, cached bool) {
		t.Helper()
		answer := r.search(asked)
		return len(answer.Hits), answer.Cached
	}
	if n, cached := finds(r); n != len(plain.Hits) || !cached {
		t.Errorf("%d hits, kept %t, before there are rules", n, cached)
	}
	rule := map[string]any{
		"name": "away", "when": map[string]any{"match": "contains", "queries": []string{"coffee"}},
		"hide": []any{map[string]any{"chunk_id": hidden}},
	}
	var v versioned.RuleSet
	r.must(http.MethodPut, "/v1/rules/shop", map[string]any{"rules": []any{rule}, "comment": "why not"}, &v)
	if n, cached := finds(r); n != len(plain.Hits)-1 || cached || v.Version != 1 || v.Count != 1 || v.Comment != "why not" {
		t.Errorf("%d hits, kept %t, with %+v", n, cached, v)
	}
	if n, cached := finds(r); n != len(plain.Hits)-1 || !cached {
		t.Errorf("%d hits, kept %t, at the second time", n, cached)
	}
	without := asked
	without.Rules = new(bool)
	if n := len(r.search(without).Hits); n != len(plain.Hits) {
		t.Errorf("%d hits without rules", n)
	}
	status, answer := r.ask(http.MethodPut, "/v1/rules/shop",
		`{"rules": [{"name": "r", "when": {"match": "exact", "queries": ["q"]}, "pin": [{"chunk_id": "a"}, {"chunk_id": "a"}]}]}`)
	if status != 400 || !strings.Contains(string(answer), "rules[0].pin[1]") {
		t.Errorf(`a bad rule: %d %s; want status 400 and "rules[0].pin[1]" in it`, status, brief.Of(answer))
	}
	if status, answer := r.ask(http.MethodPut, "/v1/rules/shop", `{"rules": [], "base_version": 7}`); status != 409 {
		t.Errorf("an edit of another version: %d %s; want status 409", status, brief.Of(answer))
	}
	r.must(http.MethodPut, "/v1/rules/shop", map[string]any{"rules": []any{}}, nil)
	if n, _ := finds(r); n != len(plain.Hits) {
		t.Errorf("%d hits once the rules are gone", n)
	}
	r.must(http.MethodPost, "/v1/rules/shop/rollback", map[string]any{"version": 1}, &v)
	r.stop()
	again := run(t, c)
	defer again.stop()
	if n, _ := finds(again); n != len(plain.Hits)-1 || v.Version != 3 || len(v.Rules) != 1 {
		t.Errorf("%d hits after a rollback to %+v and a restart", n, v)
	}
	var history versioned.RuleHistory
	again.must(http.MethodGet, "/v1/rules/shop/versions", nil, &history)
	if len(history.Versions) != 3 || history.Versions[0].Comment != "back to version 1" || history.Versions[0].Rules != nil {
		t.Errorf(`versions %+v; want 3 history.Versions and history.Versions[0].Comment "back to version 1" and no history.Versions[0].Rules`, history.Versions)
	}
	again.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
	again.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	var left versioned.RuleSet
	again.must(http.MethodGet, "/v1/rules/shop", nil, &left)
	if left.Version != 0 || left.Rules == nil || len(left.Rules) != 0 {
		t.Errorf("a new knowledge base begins with %+v; want left.Version 0 and a left.Rules and no left.Rules", left)
	}
}

func TestRuleCommands(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	file := filepath.Join(t.TempDir(), "r.json")
	list := `[{"name": "returns", "when": {"match": "contains", "queries": ["退款"]}, "pin": [{"document_id": "d3"}]}]`
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "kb create shop")
	c.want(cli.ExitOK, "", "rules show shop", "[]")
	c.want(cli.ExitOK, "", "rules put shop "+file+" --comment first", "version 1 with 1 rules")
	c.want(cli.ExitOK, "", "rules list", "KB", "shop", "first")
	c.want(cli.ExitOK, "", "rules show shop", `"name": "returns"`, `"document_id": "d3"`)
	c.want(cli.ExitFailed, "[]", "rules put shop - --base 7", "base_version is 7")
	c.want(cli.ExitUsage, `[{"name": ""}]`, "rules put shop -", "rules[0].name")
	c.want(cli.ExitUsage, `[{"nam": ""}]`, "rules put shop -", "nam")
	c.want(cli.ExitUsage, "returns", "rules put shop -", "FILE", "JSON list")
	c.want(cli.ExitOK, "[]", "rules put shop -", "version 2 with 0 rules")
	c.want(cli.ExitOK, "", "rules rollback shop 1", "version 3 with 1 rules")
	c.want(cli.ExitOK, "", "rules versions shop", "back to version 1")
	c.want(cli.ExitOK, "", "rules show shop --version 2 --json", `"version": 2`)
	c.want(cli.ExitUsage, "", "rules rollback shop x", "VERSION")
	c.want(cli.ExitNotFound, "", "rules show absent", "does not exist")
}
