package presets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/versions"
)

// configured are the presets of a configuration.
var configured = map[string]presets.Custom{"support": {Base: "rrf", Description: "of the file"}}

func openStore(t *testing.T, folder string, custom map[string]presets.Custom) *presets.Store {
	t.Helper()
	planners, err := presets.With(custom)
	if err != nil {
		t.Fatal(err)
	}
	s, err := presets.OpenStore(t.Context(), presets.StoreOptions{
		Folder: folder, Planners: planners, Custom: custom, Rerankers: []string{"default"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// define reads a definition as a request has it.
func define(t *testing.T, text string) string {
	t.Helper()
	var d presets.Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	stored, err := d.Text()
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func save(t *testing.T, s *presets.Store, tenant, name, definition string) error {
	t.Helper()
	_, err := s.Save(t.Context(), versions.Edit{Tenant: tenant, Set: name, Text: define(t, definition)})
	return err
}

// weightOf plans for a knowledge base of chunks and gives the weight of the text leg; -1: there is no such preset.
func weightOf(t *testing.T, s *presets.Store, tenant, name string) float64 {
	t.Helper()
	planner := s.Planner(tenant, name)
	if planner == nil {
		return -1
	}
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 2}
	plan, err := planner(&search.Request{Preset: name}, kb.Fields())
	if err != nil || plan.Preset != name {
		t.Fatalf("plan of %q, %v", plan.Preset, err)
	}
	i := slices.IndexFunc(plan.Legs, func(l search.Leg) bool { return l.Kind == scoring.Text })
	return plan.Legs[i].Weight
}

func TestSavedPresets(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, configured)
	for i, weight := range []string{"0.25", "0.75"} {
		if err := save(t, s, "acme", "tuned", `{"base": "rrf", "description": "v`+fmt.Sprint(i+1)+`", "weights": {"text": `+weight+`}}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := save(t, s, "rival", "tuned", `{"base": "rrf", "weights": {"text": 0.5}}`); err != nil {
		t.Fatal(err)
	}
	if err := save(t, s, "rival", "theirs", `{"base": "text"}`); err != nil {
		t.Fatal(err)
	}
	check := func(s *presets.Store, acme float64) {
		t.Helper()
		if got := weightOf(t, s, "acme", "tuned"); got != acme {
			t.Errorf("acme's preset weighs text %g, want %g", got, acme)
		}
		if got := weightOf(t, s, "rival", "tuned"); got != 0.5 {
			t.Errorf("rival's preset weighs text %g; want got 0.5", got)
		}
		if got := s.Names("acme"); !slices.Equal(got, []string{"tuned"}) || weightOf(t, s, "acme", "theirs") != -1 {
			t.Errorf(`acme sees %v; want {"tuned"} and weightOf(t, s, "acme", "theirs") -1`, got)
		}
	}
	check(s, 0.75)
	if s.Fingerprint("acme", "tuned") == s.Fingerprint("rival", "tuned") {
		t.Error("other definitions have one fingerprint")
	}
	if _, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "tuned"}, 1); err != nil {
		t.Fatal(err)
	}
	check(s, 0.25)
	check(openStore(t, folder, configured), 0.25) // after a restart
	if err := s.Delete(t.Context(), "acme", "tuned", nil); err != nil || s.Planner("acme", "tuned") != nil {
		t.Errorf(`deleted: %v; want no error and no s.Planner("acme", "tuned")`, err)
	}
}

// The configuration wins, also when it gets a name later; what is saved stays, and says why it is not used.
func TestTheFileWins(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, configured)
	for _, name := range []string{"support", "balanced"} {
		err := save(t, s, "acme", name, `{"base": "rrf"}`)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Conflict || refused.Field != "name" || !strings.Contains(refused.Detail, name) {
			t.Errorf("%s: %v, want a conflict about the name", name, err)
		}
	}
	for _, name := range []string{"mine", "late"} {
		if err := save(t, s, "acme", name, `{"base": "rrf", "rerank": "default", "provenance": {"metric": "ndcg@10"}}`); err != nil {
			t.Fatal(err)
		}
	}
	later := openStore(t, folder, map[string]presets.Custom{"late": {Base: "text"}})
	if got := later.Names("acme"); !slices.Equal(got, []string{"mine"}) || later.Planner("acme", "late") != nil || later.Fingerprint("acme", "late") != "" {
		t.Errorf(`saved ones in use: %v; want {"mine"} and no later.Planner("acme", "late") and later.Fingerprint("acme", "late") ""`, got)
	}
	details, err := later.Details(t.Context(), "acme")
	if err != nil || len(details) != len(presets.Builtin())+3 {
		t.Fatalf("%d details, %v", len(details), err)
	}
	byPlace := map[string]presets.Detail{}
	for _, d := range details {
		byPlace[d.Name+" "+d.Source] = d
	}
	late, mine := byPlace["late saved"], byPlace["mine saved"]
	for name := range presets.Builtin() {
		if d := byPlace[name+" builtin"]; d.Description == "" || d.WhenToUse == "" {
			t.Errorf(`%s says too little about itself: %+v; want d.Description other than "" and d.WhenToUse other than ""`, name, d)
		}
	}
	if late.Unused == "" || late.Version != 1 || late.Base != "rrf" || byPlace["late file"].Base != "text" ||
		byPlace["balanced builtin"].Name == "" {
		t.Errorf("details %+v", byPlace)
	}
	if mine.Unused != "" || mine.Provenance == nil || mine.Provenance.Metric != "ndcg@10" || mine.UpdatedAt.IsZero() {
		t.Errorf("mine %+v", mine)
	}
}

// Everything that is wrong with a definition is told by its place, and changes nothing.
func TestBadDefinitions(t *testing.T) {
	s := openStore(t, t.TempDir(), configured)
	f := func(name, definition, field, accepted string) {
		t.Helper()
		err := save(t, s, "acme", name, definition)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.InvalidArgument || refused.Field != field || !strings.Contains(refused.Detail, accepted) {
			t.Errorf("%s: %v; want invalid_argument about %q with %q", definition, err, field, accepted)
		}
	}
	for _, name := range []string{"", "Upper", "-x", "a b", "a/b", "名", strings.Repeat("a", 65)} {
		f(name, `{"base": "rrf"}`, "name", "1 to 64 of a-z")
	}
	f("x", `{}`, "definition.base", "balanced, ")
	f("x", `{"base": "nothing"}`, "definition.base", "balanced, ")
	f("x", `{"base": "support"}`, "definition.base", "balanced, ") // nor one of the configuration
	f("x", `{"base": "x"}`, "definition.base", "balanced, ")
	f("x", `{"base": "rrf", "top_k": 0}`, "definition.top_k", "1 to 10000")
	f("x", `{"base": "rrf", "candidates": 10001}`, "definition.candidates", "1 to 10000")
	f("x", `{"base": "rrf", "description": "`+strings.Repeat("x", 1001)+`"}`, "definition.description", "1000 bytes")
	f("x", `{"base": "rrf", "weights": {"text": -1}}`, "definition.weights.text", ">= 0")
	f("x", `{"base": "rrf", "weights": {"text": 0, "vector": 0}}`, "definition.weights", "> 0")
	f("x", `{"base": "ragflow", "weights": {"title_vector": 1}}`, "definition", "cannot be planned")
	f("x", `{"base": "linear", "normalizer": "most"}`, "definition.normalizer", "min_max")
	f("x", `{"base": "rrf", "rrf_k": 0}`, "definition.rrf_k", "1 to 1000000")
	f("x", `{"base": "rrf", "threshold": {"vector": 2}}`, "definition.threshold.vector", "-1 to 1")
	f("x", `{"base": "rrf", "rerank": "best"}`, "definition.rerank", "default")
	f("x", `{"base": "rrf", "rewrite": {"phrasings": 2}}`, "definition.rewrite", "llm.url")
	f("x", `{"base": "text", "signals": [{"match": {"field": "a", "values": ["b"]}, "weight": 1}]}`, "definition", "cannot be planned")
	f("x", `{"base": "rrf", "signals": [{"weight": 1}]}`, "definition.signals[0]", "recency")
	f("x", `{"base": "rrf", "provenance": {"date": "yesterday"}}`, "definition.provenance.date", "2026-11-28")
	f("x", `{"base": "rrf", "provenance": {"interval": [0.1]}}`, "definition.provenance.interval", "lower one first")
	f("x", `{"base": "rrf", "provenance": {"interval": [0.2, 0.1]}}`, "definition.provenance.interval", "lower one first")
	f("x", `{"base": "rrf", "provenance": {"mean": 2}}`, "definition.provenance.mean", "-1 to 1")
	f("x", `{"base": "rrf", "provenance": {"queries": -1}}`, "definition.provenance.queries", "0 to")
	f("x", `{"base": "rrf", "provenance": {"data_hash": "`+strings.Repeat("x", 257)+`"}}`, "definition.provenance.data_hash", "256 bytes")
	f("x", `{"base": "rrf", "provenance": {"note": "`+strings.Repeat("x", 1001)+`"}}`, "definition.provenance.note", "1000 bytes")
	f("x", `{"base": "rrf", "signals": [{"match": {"field": "a", "values": ["`+strings.Repeat("x", presets.MaxDefinition)+`"]}, "weight": 1}]}`,
		"definition", "65536 bytes")
	if got := s.Names("acme"); len(got) != 0 {
		t.Errorf("saved in spite of it: %v; want no got", got)
	}
}

// A definition keeps all that it says.
func TestDefinitionsAreKeptWhole(t *testing.T) {
	const whole = `{"base":"rrf","candidates":40,"description":"d","did_you_mean":false,"diversity":0,"fields":{"title":3},` +
		`"group_by":"document_id","minimum_should_match":"50%","provenance":{"base":"balanced","data_hash":"sha256:1","date":"2026-11-28T09:30:00Z",` +
		`"interval":[0.001,0.02],"mean":0.01,"metric":"ndcg@10","note":"n","queries":300},"rerank":{"name":"default","window":20},` +
		`"return":"parent","rrf_k":20,"signals":[{"recency":{"field":"f","half_life":"30d"},"weight":0.5}],"threshold":{"answerable":0},` +
		`"top_k":7,"use_rerank":true,"weights":{"text":0,"vector":1}}`
	s := openStore(t, t.TempDir(), configured)
	if err := save(t, s, "acme", "whole", whole); err != nil {
		t.Fatal(err)
	}
	v, err := s.Get(t.Context(), "acme", "whole", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal([]byte(v.Text), &got), json.Unmarshal([]byte(whole), &want)); err != nil {
		t.Fatal(err)
	}
	const empty = `{"base":"rrf","fields":{},"group_by":""}`
	if text := define(t, empty); text != empty {
		t.Errorf("%s became %s; want text empty", empty, text)
	}
	gotten, wanted := got.(map[string]any), want.(map[string]any)
	if !maps.EqualFunc(gotten, wanted, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("got  %v\nwant %v", gotten, wanted)
	}
}

func TestPresetsOfATenantAreBounded(t *testing.T) {
	s := openStore(t, t.TempDir(), configured)
	for i := range presets.MaxSaved {
		if err := save(t, s, "acme", fmt.Sprintf("p%d", i), `{"base": "rrf"}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := save(t, s, "acme", "more", `{"base": "rrf"}`); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "100") {
		t.Errorf(`one more: %v; want an error of kind Conflict and "100" in it`, err)
	}
	for tenant, name := range map[string]string{"acme": "p0", "rival": "more"} {
		if err := save(t, s, tenant, name, `{"base": "text"}`); err != nil {
			t.Errorf("%s of %s: %v", name, tenant, err)
		}
	}
	if err := s.Delete(t.Context(), "acme", "p1", nil); err != nil {
		t.Fatal(err)
	}
	if err := save(t, s, "acme", "more", `{"base": "rrf"}`); err != nil {
		t.Errorf("after one is gone: %v", err)
	}
}

// Readers and writers may come at once; a reader sees one version whole.
func TestPresetsAreReadWhileTheyChange(t *testing.T) {
	s := openStore(t, t.TempDir(), configured)
	if err := save(t, s, "acme", "tuned", `{"base": "rrf", "weights": {"text": 1}}`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 10 {
				if err := save(t, s, "acme", "tuned", fmt.Sprintf(`{"base": "rrf", "weights": {"text": %d}}`, 1+i*10+n)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 100 {
				if planner := s.Planner("acme", "tuned"); planner == nil {
					t.Error("the preset is not there for a moment")
				}
			}
		})
	}
	all.Wait()
	if v, err := s.Get(t.Context(), "acme", "tuned", 0); err != nil || v.Version != 41 {
		t.Errorf("version %+v, %v; want no error and v.Version 41", v, err)
	}
}
