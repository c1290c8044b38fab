package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// presetBench is a gateway with two tenants, each with a knowledge base in which the words of a question and its
// vector find different chunks. Key clerk is bound to that knowledge base, key anna to a filter.
func presetBench(t *testing.T, folder string, ofFile map[string]config.Preset) *bound {
	t.Helper()
	c := settingsIn(folder)
	c.Presets = ofFile
	c.Keys = []config.Key{
		{Name: "root", Key: "root", Tenant: "acme"},
		{Name: "rival", Key: "rival", Tenant: "rival"},
		{Name: "clerk", Key: "clerk", Tenant: "acme", KnowledgeBases: []string{"k"}},
		{Name: "anna", Key: "anna", Tenant: "acme", Filter: map[string]any{"owner": "anna"}},
	}
	return &bound{running: run(t, c)}
}

func (b *bound) fillPresetBench() {
	b.t.Helper()
	for _, key := range []string{"root", "rival"} {
		b.as(key, http.MethodPost, "/v1/knowledge-bases", `{"id": "k", "dimensions": 2}`, http.StatusCreated)
		b.as(key, http.MethodPost, cli.BasePath("k")+"/documents?refresh=true",
			`{"id": "words", "content": "a refund takes a week", "vector": [0, 1]}`+"\n"+
				`{"id": "meaning", "content": "money comes back", "vector": [1, 0]}`, http.StatusOK)
	}
}

// finds searches by the preset tuned and gives the best chunk, its score, and whether the answer was kept.
func (b *bound) finds(key string) (best string, score float64, cached bool) {
	b.t.Helper()
	text := b.as(key, http.MethodPost, "/v1/search",
		`{"query": "refund", "vector": [1, 0], "knowledge_bases": ["k"], "preset": "tuned"}`, http.StatusOK)
	var answer search.Response
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Hits) == 0 || answer.Preset != "tuned" {
		b.t.Fatalf(`by %s: %s, %v; want no error and some answer.Hits and answer.Preset "tuned"`, key, text, err)
	}
	return answer.Hits[0].ID, answer.Hits[0].Score, answer.Cached
}

const tunedPath = cli.PresetsPath + "/tuned"

func weighing(text, vector string) string {
	return `{"definition": {"base": "linear", "normalizer": "theoretical", "weights": {"text": ` + text + `, "vector": ` + vector +
		`}, "provenance": {"metric": "ndcg@10", "base": "linear", "mean": 0.02, "interval": [0.01, 0.03]}}, "comment": "tuned"}`
}

// TestSavedPresetsWithoutARestart: a save changes the next answer, also where one was kept; a rollback takes it back,
// both outlive the program, and no other tenant knows of it.
func TestSavedPresetsWithoutARestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b := presetBench(t, folder, nil)
	b.fillPresetBench()
	b.as("root", http.MethodPut, tunedPath, weighing("0.9", "0.1"), http.StatusOK)
	best, first, cached := b.finds("root")
	if best != "words" || cached {
		t.Errorf(`%s first, kept %t, where words count most; want best "words" and not cached`, best, cached)
	}
	if _, again, cached := b.finds("root"); again != first || !cached {
		t.Errorf("score %g, kept %t, at the second time", again, cached)
	}
	b.as("root", http.MethodPut, tunedPath, weighing("0.1", "0.9"), http.StatusOK)
	if best, score, cached := b.finds("root"); best != "meaning" || score == first || cached {
		t.Errorf("%s first with %g, kept %t, where vectors count most", best, score, cached)
	}
	b.as("root", http.MethodPost, tunedPath+"/rollback", `{"version": 1}`, http.StatusOK)
	if best, score, _ := b.finds("root"); best != "words" || score != first {
		t.Errorf("%s first with %g after the rollback, want words with %g", best, score, first)
	}
	b.presetsElsewhere()
	b.presetsOfOthers()
	b.stop()

	again := presetBench(t, folder, nil)
	if best, score, _ := again.finds("root"); best != "words" || score != first {
		t.Errorf("%s first with %g after a restart", best, score)
	}
	var history versioned.PresetHistory
	again.reads(tunedPath+"/versions", &history)
	if v := history.Versions; len(v) != 3 || v[0].Comment != "back to version 1" || v[2].Comment != "tuned" || v[0].Author != "root" || v[0].Definition != nil {
		t.Errorf(`versions %+v; want 3 v and v[0].Comment "back to version 1" and v[2].Comment "tuned" and v[0].Author "root" and no v[0].Definition`, history.Versions)
	}
	again.stop()
	fileWins(t, folder)
}

// TestTheDefaultOfATenant: the saved preset default is of searches that name none, of its tenant's alone, until it is
// deleted, and no kept answer of another default is given.
func TestTheDefaultOfATenant(t *testing.T) {
	t.Parallel()
	b := presetBench(t, t.TempDir(), nil)
	b.fillPresetBench()
	defer b.stop()
	f := func(key, preset, best string) {
		t.Helper()
		text := b.as(key, http.MethodPost, "/v1/search", `{"query": "refund", "vector": [1, 0], "knowledge_bases": ["k"]}`, http.StatusOK)
		var answer search.Response
		if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Preset != preset || best != "" && answer.Hits[0].ID != best {
			t.Errorf("by %s: %s, %v; want %s first by %s", key, text, err, best, preset)
		}
		if list := b.as(key, http.MethodGet, cli.PresetsPath, "", http.StatusOK); !strings.Contains(list, `"default":"`+preset+`"`) {
			t.Errorf("by %s: %.200s; want %s as the default", key, list, preset)
		}
	}
	standard := config.Default().DefaultPreset
	f("root", standard, "")
	const path = cli.PresetsPath + "/" + search.PresetDefault
	b.as("root", http.MethodPut, path, weighing("0.9", "0.1"), http.StatusOK)
	f("root", search.PresetDefault, "words")
	f("rival", standard, "")
	b.as("root", http.MethodPut, path, weighing("0.1", "0.9"), http.StatusOK)
	f("root", search.PresetDefault, "meaning")
	b.as("root", http.MethodPost, path+"/rollback", `{"version": 1}`, http.StatusOK)
	f("root", search.PresetDefault, "words")
	b.as("root", http.MethodDelete, path, "", http.StatusNoContent)
	f("root", standard, "")
}

func (b *bound) reads(path string, into any) {
	b.t.Helper()
	text := b.as("root", http.MethodGet, path, "", http.StatusOK)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		b.t.Fatalf("%s: %v in %s", path, err, text)
	}
}

// presetsElsewhere asks for the saved preset in every other way that takes one.
func (b *bound) presetsElsewhere() {
	b.t.Helper()
	const asked = `"query": "refund", "vector": [1, 0], "knowledge_bases": ["k"], `
	f := func(path, body, want string) {
		b.t.Helper()
		if text := b.as("root", http.MethodPost, path, body, http.StatusOK); !strings.Contains(text, want) {
			b.t.Errorf("%s: %.600s; want %s", path, text, want)
		}
	}
	f("/v1/compare", `{`+asked+`"columns": [{"preset": "tuned"}, {"preset": "rrf"}]}`, `"preset":"tuned"`)
	f("/v1/context", `{`+asked+`"preset": "tuned", "max_chunks": 1, "format": "tool"}`, "a refund takes a week")
	f("/v1/analyze", `{`+asked+`"preset": "tuned"}`, `"preset":"tuned"`)
	f("/v1/explain", `{`+asked+`"preset": "tuned", "chunk_id": "words"}`, `"words"`)
	f("/v1/search/batch", `{"searches": [{`+asked+`"preset": "tuned"}]}`, `"preset":"tuned"`)
	f("/v1/vector_stores/k/search", `{"query": "refund", "ranking_options": {"ranker": "tuned"}}`, "refund takes")
	f("/api/v1/retrieval", `{"question": "refund", "dataset_ids": ["k"], "rerank_id": "tuned"}`, "refund takes")
	metrics := b.as("root", http.MethodGet, "/metrics", "", http.StatusOK)
	if strings.Contains(metrics, `"tuned"`) || !strings.Contains(metrics, `preset="saved"`) {
		b.t.Error("a saved preset is a label of its own")
	}
}

// presetsOfOthers: another tenant neither finds the preset nor is told of it, and keys that are not for all of a
// tenant's searches may use it only.
func (b *bound) presetsOfOthers() {
	b.t.Helper()
	told := b.as("rival", http.MethodPost, "/v1/search",
		`{"query": "refund", "vector": [1, 0], "knowledge_bases": ["k"], "preset": "tunned"}`, http.StatusBadRequest)
	if strings.Contains(told, "tuned") || !strings.Contains(told, `"field":"preset"`) {
		b.t.Errorf("another tenant is told %s; want no \"tuned\" in it and `\"field\":\"preset\"` in it", told)
	}
	told = b.as("root", http.MethodPost, "/v1/search",
		`{"query": "refund", "vector": [1, 0], "knowledge_bases": ["k"], "preset": "tunned"}`, http.StatusBadRequest)
	if !strings.Contains(told, ", tuned") {
		b.t.Errorf(`the tenant itself is told %s; want ", tuned" in it`, told)
	}
	for _, path := range []string{tunedPath, tunedPath + "/versions"} {
		b.as("rival", http.MethodGet, path, "", http.StatusNotFound)
	}
	b.as("rival", http.MethodDelete, tunedPath, "", http.StatusNotFound)
	b.as("rival", http.MethodPost, tunedPath+"/rollback", `{"version": 1}`, http.StatusNotFound)
	b.as("rival", http.MethodPut, tunedPath, weighing("0.5", "0.5"), http.StatusOK) // its own
	b.as("rival", http.MethodDelete, tunedPath, "", http.StatusNoContent)
	b.finds("root")
	b.finds("clerk")
	b.as("anna", http.MethodGet, tunedPath, "", http.StatusOK)
	for _, key := range []string{"clerk", "anna"} {
		b.as(key, http.MethodPut, tunedPath, weighing("0.5", "0.5"), http.StatusForbidden)
		b.as(key, http.MethodPost, tunedPath+"/rollback", `{"version": 1}`, http.StatusForbidden)
		b.as(key, http.MethodDelete, tunedPath, "", http.StatusForbidden)
	}
}

// fileWins: a preset of the configuration takes the place of the saved one of its name, which says so and can go.
func fileWins(t *testing.T, folder string) {
	t.Helper()
	b := presetBench(t, folder, map[string]config.Preset{"tuned": {Base: "vector", Description: "of the file"}})
	defer b.stop()
	if best, _, _ := b.finds("root"); best != "meaning" {
		t.Errorf(`%s first by the preset of the configuration; want best "meaning"`, best)
	}
	var list versioned.Presets
	b.reads(cli.PresetsPath, &list)
	saved := slices.IndexFunc(list.Details, func(d presets.Detail) bool { return d.Name == "tuned" && d.Source == presets.FromSaved })
	if saved < 0 || !strings.Contains(list.Details[saved].Unused, "the configuration has a preset") || list.Details[saved-1].Description != "of the file" ||
		strings.Count(strings.Join(list.Presets, " "), "tuned") != 1 {
		t.Errorf("presets %+v", list)
	}
	var now versioned.PresetVersion
	b.reads(tunedPath, &now)
	if now.Source != presets.FromFile || now.Definition.Base != "vector" {
		t.Errorf(`the preset in use is %+v; want now.Source FromFile and now.Definition.Base "vector"`, now)
	}
	b.reads(tunedPath+"?version=1", &now)
	if now.Source != presets.FromSaved || now.Unused == "" {
		t.Errorf(`the saved one is %+v; want now.Source FromSaved and now.Unused other than ""`, now)
	}
	b.as("root", http.MethodPut, tunedPath, weighing("0.5", "0.5"), http.StatusConflict)
	b.as("root", http.MethodPost, tunedPath+"/rollback", `{"version": 1}`, http.StatusConflict)
	b.as("root", http.MethodDelete, tunedPath, "", http.StatusNoContent)
	b.as("root", http.MethodDelete, tunedPath, "", http.StatusNotFound)
	b.finds("root")
}

// TestOneOfManySavedPresetsWins: of those who edited the same version.
func TestOneOfManySavedPresetsWins(t *testing.T) {
	t.Parallel()
	b := presetBench(t, t.TempDir(), nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	ended := map[int]int{}
	for i := range 8 {
		all.Go(func() {
			status, _ := b.send("root", http.MethodPut, tunedPath, cli.AsJSON,
				fmt.Sprintf(`{"definition": {"base": "rrf", "top_k": %d}, "base_version": 0}`, i+1))
			mu.Lock()
			defer mu.Unlock()
			ended[status]++
		})
	}
	all.Wait()
	if ended[http.StatusOK] != 1 || ended[http.StatusConflict] != 7 {
		t.Errorf("they ended with %v, want one 200", ended)
	}
}

// TestBadPresets: what is wrong is told by its place, in the caller's language, and never by a failure of ours.
func TestBadPresets(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	f := func(name, body string, status int, field string) {
		t.Helper()
		got, text := r.ask(http.MethodPut, cli.PresetsPath+"/"+name, body)
		var p endpoint.Problem
		if err := json.Unmarshal(text, &p); err != nil || got != status || p.Field != field || p.Detail == "" || len(p.Detail) > 400 {
			t.Errorf("%s %.100s: %d %.400s, want %d about %q", name, body, got, text, status, field)
		}
	}
	define := func(members string) string { return `{"definition": {"base": "rrf", ` + members + `}}` }
	for _, body := range []string{``, `null`, `[]`, `{`, `"x"`} {
		f("p", body, map[bool]int{true: 415, false: 400}[body == ""], "")
	}
	f("p", `{}`, 400, "definition")
	f("p", `{"definition": []}`, 400, "definition")
	f("p", `{"definition": {}}`, 400, "definition.base")
	f("p", `{"definition": {"base": "rrf"}, "base_version": 7}`, 409, "base_version")
	f("p", `{"definition": {"base": "rrf"}, "base_version": "x"}`, 400, "base_version")
	f("p", define(`"weight": {}`), 400, "definition.weight")
	f("p", define(`"weights": {"text": 1e999}`), 400, "definition.weights.text")
	f("p", define(`"weights": {"text": -1}`), 400, "definition.weights.text")
	f("p", define(`"weights": {"": 1}`), 400, "definition")
	f("p", define(`"rerank": "none"`), 400, "definition.rerank")
	f("p", define(`"threshold": "always"`), 400, "definition.threshold")
	f("p", define(`"top_k": 5, "top_k": 6`), 400, "definition.top_k")
	f("p", define(`"provenance": {"interval": {"low": 1}}`), 400, "definition.provenance.interval")
	f("p", define(`"provenance": {"interval": []}`), 400, "definition.provenance.interval")
	f("p", define(`"provenance": {"by": "x"}`), 400, "definition.provenance.by")
	f("p", define(`"description": "`+strings.Repeat("猫", 400)+`"`), 400, "definition.description")
	f("p", define(`"description": "`+strings.Repeat("猫", 400_000)+`"`), 413, "")
	f("balanced", `{"definition": {"base": "rrf"}}`, 409, "name")
	for _, name := range []string{"P", "%20", "a%2Fb", "..%2F..%2Fx", "%00", "%E5%90%8D", strings.Repeat("p", 65), "'%3B--"} {
		f(name, `{"definition": {"base": "rrf"}}`, 400, "name")
		if status, text := r.ask(http.MethodGet, cli.PresetsPath+"/"+name, ""); status != http.StatusNotFound {
			t.Errorf("reading %s: %d %s; want status StatusNotFound", name, status, brief.Of(text))
		}
	}
	var list versioned.Presets
	if r.must(http.MethodGet, cli.PresetsPath, nil, &list); len(list.Presets) != len(presets.Builtin()) {
		t.Errorf("presets %v", list.Presets)
	}
}

func TestPresetCommands(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	file := filepath.Join(t.TempDir(), "p.json")
	tuned := `{"base": "rrf", "rrf_k": 20, "description": "flat", "provenance": {"metric": "ndcg@10", "mean": 0.0123, "base": "rrf"}}`
	if err := os.WriteFile(file, []byte(tuned), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "kb create shop")
	c.want(cli.ExitOK, "", "presets list", "balanced", "builtin", "the default")
	c.want(cli.ExitOK, "", "presets save flat "+file+" --comment first", "flat: version 1 is in use")
	c.want(cli.ExitOK, "", "presets list", "flat", "saved", "rrf", "flat; +0.0123 ndcg@10 over rrf")
	c.want(cli.ExitOK, "", "presets list --json", `"source": "saved"`)
	c.want(cli.ExitOK, "", "presets show flat", `"rrf_k": 20`, `"metric": "ndcg@10"`)
	c.want(cli.ExitOK, "", "search --kb shop --preset flat refund", "flat on embedded")
	c.want(cli.ExitUsage, "", "search --kb shop --preset flatt refund", "did you mean flat?")
	c.want(cli.ExitUsage, "", "presets show balanced", "built in")
	c.want(cli.ExitFailed, `{"base": "rrf"}`, "presets save flat - --base 7", "base_version is 7")
	c.want(cli.ExitFailed, `{"base": "rrf"}`, "presets save balanced -", "balanced", "another name")
	c.want(cli.ExitUsage, `{"base": "rrff"}`, "presets save flat -", "definition.base")
	c.want(cli.ExitUsage, `{"bas": "rrf"}`, "presets save flat -", "definition.bas")
	c.want(cli.ExitUsage, "base: rrf", "presets save flat -", "FILE", "JSON object")
	c.want(cli.ExitOK, `{"base": "rrf"}`, "presets save flat -", "version 2 is in use")
	c.want(cli.ExitOK, "", "presets rollback flat 1", "version 3 is in use")
	c.want(cli.ExitOK, "", "presets history flat", "back to version 1", "first")
	c.want(cli.ExitOK, "", "presets show flat --version 2 --json", `"version": 2`)
	c.want(cli.ExitUsage, "", "presets rollback flat x", "VERSION")
	c.want(cli.ExitNotFound, "", "presets show flta", "does not exist", "did you mean flat?")
	c.want(cli.ExitNotFound, "", "presets history balanced", "was not saved")

	backup := filepath.Join(t.TempDir(), "monday")
	c.want(cli.ExitOK, "", "backup "+backup, "presets.db")
	c.want(cli.ExitOK, "", "presets delete flat", "deleted")
	c.want(cli.ExitNotFound, "", "presets delete flat", "does not exist")
	fresh := command{t: t, folder: filepath.Join(t.TempDir(), "data")}
	fresh.want(cli.ExitOK, "", "restore "+backup, "restored")
	fresh.want(cli.ExitOK, "", "presets show flat", `"rrf_k": 20`)
	fresh.want(cli.ExitOK, "", "presets history flat", "back to version 1")
}
