package elastic_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// drifts are settings that somebody changes behind the gateway: what fails then, what of
// Elasticsearch's reason is told, and by which setting it is found again.
var drifts = []struct {
	settings string
	fails    string // search, write or filter; empty: nothing fails at once
	kind     fault.Kind
	says     string
	path     string
}{
	{`"index.max_result_window": 5`, "search", fault.Unavailable, "Result window is too large", "max_result_window"},
	{`"index.max_docvalue_fields_search": 0`, "search", fault.Unavailable, "docvalue_fields", "max_docvalue_fields_search"},
	{`"index.max_terms_count": 1`, "filter", fault.Unavailable, "max_terms_count", "max_terms_count"},
	{`"index.blocks.read": true`, "search", fault.Unavailable, "index read (api)", "blocks.read"},
	{`"index.default_pipeline": "nosuch"`, "write", fault.Unavailable, "pipeline with id [nosuch] does not exist", "default_pipeline"},
	{`"index.final_pipeline": "nosuch"`, "write", fault.Unavailable, "pipeline with id [nosuch] does not exist", "final_pipeline"},
	{`"index.blocks.read_only": true`, "write", fault.Unavailable, "index read-only (api)", "blocks.read_only"},
	{`"index.refresh_interval": "-1"`, "", "", "", "refresh_interval"},
	{`"index.blocks.metadata": true`, "", "", "", "blocks.metadata"},
}

// TestSettingsThatOthersChanged: the server's state is not the caller's fault, its reason is told, the
// difference is found, and mended in place.
func TestSettingsThatOthersChanged(t *testing.T) {
	t.Parallel()
	e, prefix := open(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "elasticsearch", Kind: engine.KindChunks, Analyzer: engine.AnalyzerJieba,
	}
	chunk := engine.Chunk{ID: "a", DocumentID: "d", Available: true, Title: "a refund", Content: "a refund"}
	create(t, e, kb, chunk)
	kb, err := e.KnowledgeBase(t.Context(), kb.Ref)
	if err != nil {
		t.Fatal(err)
	}
	do := map[string]func(context.Context) error{
		"search": func(ctx context.Context) error { return searched(ctx, e, kb, engine.Filter{}) },
		"filter": func(ctx context.Context) error {
			return searched(ctx, e, kb, engine.Filter{IDs: []string{"d", "e", "f"}})
		},
		"write": func(ctx context.Context) error {
			outcomes, err := e.Write(ctx, engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}, Refresh: true})
			if err == nil {
				err = outcomes[0].Err
			}
			return err
		},
		"": func(context.Context) error { return nil },
	}
	for _, d := range drifts {
		ask(t, http.MethodPut, devservices.Elasticsearch(t)+"/"+prefix+"-kb-*/_settings", "{"+d.settings+"}")
		err := do[d.fails](t.Context())
		if d.fails != "" && (!fault.Is(err, d.kind) || !strings.Contains(detail(err), d.says) || !strings.Contains(err.Error(), d.says)) {
			t.Errorf("%s: %v; want %s that says %q", d.settings, err, d.kind, d.says)
		}
		path := "settings.index." + d.path
		diff, err := e.DiffMapping(t.Context(), kb, kb)
		if err != nil || diff.Class != engine.ChangeInPlace || len(diff.Changes) != 1 || diff.Changes[0].Path != path {
			t.Fatalf("%s: the diff is %+v, %v", d.settings, diff, err)
		}
		m := &engine.Migration{Ref: kb.Ref, From: kb, FromIndex: diff.Index, Step: "put", Direction: engine.GoForward}
		m.Plan.Wanted, m.Plan.Diff = kb, *diff
		if err := e.MigrationStep(t.Context(), m, engine.MigrationEnv{}); err != nil {
			t.Fatalf("%s: %v", d.settings, err)
		}
		for name, try := range do {
			if err := try(t.Context()); err != nil {
				t.Errorf("%s, mended: %s: %v", d.settings, name, err)
			}
		}
		if diff, err = e.DiffMapping(t.Context(), kb, kb); err != nil || diff.Class != engine.ChangeNone {
			t.Errorf("%s, mended: the diff is %+v, %v; want no error and diff.Class ChangeNone", d.settings, diff, err)
		}
	}
}

// TestVerifyFindsChangedSettings: of an index that is shared too, which no migration mends.
func TestVerifyFindsChangedSettings(t *testing.T) {
	t.Parallel()
	e, prefix := open(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "elasticsearch", Kind: engine.KindChunks, Analyzer: engine.AnalyzerJieba, Shared: true,
	}
	create(t, e, kb, engine.Chunk{ID: "a", DocumentID: "d", Available: true, Content: "a refund"})
	change := func(settings string) {
		ask(t, http.MethodPut, devservices.Elasticsearch(t)+"/"+prefix+"-shared-*/_settings", settings)
	}
	change(`{"index.default_pipeline": "nosuch", "index.number_of_replicas": 0, "index.refresh_interval": "9s"}`)
	found, err := e.Verify(t.Context(), kb, false)
	if err != nil || found.Sound() || found.Chunks != 1 || !strings.Contains(found.Settings, `index.default_pipeline is "nosuch"`) ||
		strings.Contains(found.Settings, "refresh") {
		t.Errorf("found %+v, %v", found, err)
	}
	change(`{"index.max_result_window": 5}`)
	if _, err = e.Verify(t.Context(), kb, false); !fault.Is(err, fault.Unavailable) || !strings.Contains(detail(err), "max_result_window") {
		t.Errorf(`chunks that cannot be read: %v; want an error of kind Unavailable and "max_result_window" in it`, err)
	}
	if found, err = e.Verify(t.Context(), kb, true); err != nil || !found.Sound() || found.Chunks != 1 {
		t.Errorf("with repair: %+v, %v", found, err)
	}
}

// searched runs a search and gives the error of it, or of its leg.
func searched(ctx context.Context, e *elastic.Engine, kb engine.KnowledgeBase, filter engine.Filter) error {
	leg := textLeg()
	leg.K = 200
	result, err := e.Search(ctx, &engine.Request{KB: kb, Legs: []engine.Leg{leg}, Filter: filter})
	if err == nil {
		err = result.Legs[0].Err
	}
	return err
}
