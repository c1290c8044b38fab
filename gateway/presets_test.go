package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

func TestPresets(t *testing.T) {
	g := start(t, Options{})
	f := func(method, path, body string, status int, contains string) {
		t.Helper()
		if got := g.ask(method, path, body, asJSON); got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%s %s: %d %s; want %d with %s", method, path, got.status, brief.Of(got.body), status, contains)
		}
	}
	const mine, saved = "/v1/presets/mine", `"source":"saved","version":`
	f("GET", "/v1/presets/balanced", "", 200, `{"name":"balanced","source":"builtin"}`)
	f("GET", mine+"?version=2", "", 200, saved+`2`)
	f("GET", mine+"/versions?limit=1", "", 200, saved+`1`)
	f("PUT", mine, `{"definition": {"base": "rrf", "threshold": {"score": 0.5}}}`, 200,
		`"definition":{"base":"rrf","threshold":{"score":0.5}}`)
	f("PUT", mine, `{"definition": {"base": "rrf", "rerank": "default"}}`, 200,
		`"definition":{"base":"rrf","rerank":{"name":"default","weight":1}}`)
	f("PUT", mine, `{}`, 400, `"field":"definition"`)
	f("PUT", mine, `{"definition": null}`, 400, `"field":"definition"`)
	f("PUT", mine, `{"definition": {"base": "rrf", "colour": 1}}`, 400, "definition.colour is not a member")
	f("PUT", mine, `{"definition": {"base": "rrf", "threshold": {"scor": 1}}}`, 400, "definition.threshold.scor is not a member")
	f("PUT", mine, `{"definition": {"base": 7}}`, 400, "definition.base is a number")
	f("PUT", mine, `{"definition": {"base": "rrf"}, "comment": "`+strings.Repeat("x", 1001)+`"}`, 400, `"field":"comment"`)
	f("POST", mine+"/rollback", `{"version": 1}`, 200, saved+`3`)
	f("POST", mine+"/rollback", `{"version": 0}`, 400, `"field":"version"`)
	f("DELETE", mine, "", 204, "")
}

// Presets that tenants save have one label: their names and their number are the tenants' own.
func TestSavedPresetsAreCountedTogether(t *testing.T) {
	g := start(t, Options{})
	for _, preset := range []string{"rrf", "acme-secret", search.PresetEverything} {
		g.canned = cannedResponse(1)
		g.canned.Preset = preset
		g.ask("POST", "/v1/search", question, asJSON)
	}
	counted := g.ask("GET", "/metrics", "").body
	for _, want := range []string{`preset="rrf"} 1`, `preset="saved"} 1`, `preset="everything"} 1`} {
		if !strings.Contains(counted, "hybridge_search_duration_seconds_count{"+want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(counted, "acme-secret") {
		t.Error("a tenant's preset is a label")
	}
}
