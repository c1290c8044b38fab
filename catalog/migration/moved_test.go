package migration

import (
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// TestAGatewayThatKnowsNothingOfTheEnd of a migration, whose indices are dropped at once,
// looks at the catalogue when it misses one: it searches, lists and counts without an error,
// by the fields that the chunks are in.
func TestAGatewayThatKnowsNothingOfTheEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.gateway(nil), s.gateway(nil)
	a.create(someChunks(30))
	if _, err := a.engine.Write(t.Context(), engine.WriteRequest{KB: a.kb(), Refresh: true}); err != nil {
		t.Fatal(err)
	}
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(search.Options{
		Catalog: b.catalog, Analyzer: analyzer, Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
	asks := func(when string) {
		t.Helper()
		for _, preset := range []string{"text", "balanced"} {
			r, err := searcher.Search(t.Context(), scope, search.Request{
				Query: "title of text", KnowledgeBases: []string{"kb"}, Preset: preset, Vector: []float32{1, 0},
			})
			if err != nil || len(r.Degraded) > 0 || len(r.Hits) == 0 || len(r.Hits[0].Highlights) == 0 {
				t.Errorf("%s, %s: %+v, %v; want no error and len(r.Degraded) 0 and some r.Hits and some r.Hits[0].Highlights", when, preset, r, err)
			}
		}
	}
	lists := func(when string) {
		t.Helper()
		kb, e, err := b.catalog.Get(t.Context(), scope, "kb")
		if err != nil {
			t.Fatal(err)
		}
		documents, err := e.Documents(t.Context(), kb, "", 10)
		if err != nil || len(documents) != 1 || documents[0].Chunks != 30 {
			t.Errorf("%s: documents %+v, %v; want no error and 1 documents and documents[0].Chunks 30", when, documents, err)
		}
		if d, err := b.catalog.Describe(t.Context(), scope, "kb"); err != nil || d.Chunks != 30 {
			t.Errorf("%s: described %+v, %v; want no error and d.Chunks 30", when, d, err)
		}
	}
	for i, step := range []struct {
		order Order
		state string
	}{{Rollback, engine.MigrationRolledBack}, {Cleanup, engine.MigrationDone}} {
		for _, look := range [][]func(string){{asks, lists}, {lists, asks}}[i] {
			look("before")
		}
		a.apply(Change{Analyzer: new("standard")}, engine.MappingOptions{})
		a.until(engine.MigrationSwitched)
		asks("switched")
		b.catalog.Expire()
		lists("switched")
		a.order(step.order)
		a.until(step.state)
		for _, look := range slices.Backward([]func(string){asks, lists}) {
			look(step.state)
		}
		asks(step.state)
	}
}

// TestAPlanIsMadeOfWhatIsStored, though the catalogue of its gateway was read before another
// gateway changed the knowledge base.
func TestAPlanIsMadeOfWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.gateway(nil)
	b := s.gateway(func(o *Options) {
		o.Catalog = catalog.New(o.Catalog.Engines(), catalog.Options{Refresh: time.Hour})
	})
	a.create(someChunks(1))
	if _, _, err := b.Catalog.Get(t.Context(), scope, "kb"); err != nil {
		t.Fatal(err)
	}
	a.apply(Change{Analyzer: new("standard")}, engine.MappingOptions{})
	a.until(engine.MigrationSwitched)
	a.order(Cleanup)
	a.until(engine.MigrationDone)
	if known, _, err := b.Catalog.Get(t.Context(), scope, "kb"); err != nil || known.Generation != 1 {
		t.Fatalf("the other gateway knows %+v, %v; the test needs what was before", known, err)
	}
	plan, err := b.Plan(t.Context(), Caller{Scope: scope}, "kb", Request{})
	if err != nil || plan.Diff.Class != engine.ChangeNone || plan.Wanted.Analyzer != "standard" || plan.Wanted.Generation != 2 {
		t.Errorf(`plan %+v, %v; want no error and plan.Diff.Class ChangeNone and plan.Wanted.Analyzer "standard" and plan.Wanted.Generation 2`, plan, err)
	}
}
