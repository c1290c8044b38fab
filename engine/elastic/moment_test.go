package elastic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// olderEngine makes indices as they were before times were kept as moments: without the mark, and with
// documents that have none.
type olderEngine struct {
	*elastic.Engine
	t      *testing.T
	prefix string
}

func (e *olderEngine) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	if err := e.Engine.CreateKnowledgeBase(ctx, kb); err != nil {
		return err
	}
	unmark(e.t, e.prefix)
	return nil
}

func (e *olderEngine) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	outcomes, err := e.Engine.Write(ctx, req)
	forgetMoments(e.t, e.prefix)
	return outcomes, err
}

// unmark takes the mark off all indices.
func unmark(t *testing.T, prefix string) {
	t.Helper()
	server := devservices.Elasticsearch(t)
	var indices map[string]struct {
		Mappings struct {
			Meta map[string]any `json:"_meta"`
		} `json:"mappings"`
	}
	if err := json.Unmarshal(ask(t, "GET", server+"/"+prefix+"-*/_mapping", ""), &indices); err != nil {
		t.Fatal(err)
	}
	for name, index := range indices {
		if index.Mappings.Meta["moments"] == nil {
			continue
		}
		delete(index.Mappings.Meta, "moments")
		body, err := json.Marshal(map[string]any{"_meta": index.Mappings.Meta})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, "PUT", server+"/"+name+"/_mapping", string(body))
	}
}

// forgetMoments takes the moments out of all documents.
func forgetMoments(t *testing.T, prefix string) {
	t.Helper()
	url := devservices.Elasticsearch(t) + "/" + prefix + "-*/_update_by_query?refresh&conflicts=proceed"
	ask(t, "POST", url, `{"query": {"exists": {"field": "meta"}}, "script": {"source":
		"ctx._source.meta.keySet().removeIf(key -> key.startsWith('%moments'))"}}`)
}

// TestIndicesOfBefore: indices that were made before moments were kept give the same answers.
func TestIndicesOfBefore(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, enginetest.Harness{
		New: func(t *testing.T) engine.Engine {
			e, prefix := open(t)
			return &olderEngine{e, t, prefix}
		},
		Only: []string{"data/moments", "data/written", "data/qa", "data/filter", "random/filters", "random/times", "signals/hits"},
	})
}

// TestMomentsOfAttachedIndices: Elasticsearch compares its own dates, to the millisecond and whatever their
// format, and the gateway reads texts.
func TestMomentsOfAttachedIndices(t *testing.T) {
	e, kb := ragflow(t)
	index := devservices.Elasticsearch(t) + "/" + kb.Attach.Index
	ask(t, "PUT", index+"/_mapping", `{"properties": {"told": {"type": "date", "format": "yyyy/MM/dd"}}}`)
	ask(t, "POST", index+"/_update/r1?refresh=true", `{"doc": {"told": "2026/02/28"}}`)
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	f := func(field string, r filter.Range, found bool) {
		t.Helper()
		result, err := e.Search(t.Context(), &engine.Request{
			KB:     kb,
			Legs:   []engine.Leg{{Name: "vector", Field: engine.FieldVector, K: 9, Vector: []float32{1, 0, 0}}},
			Filter: engine.Filter{Conditions: []filter.Condition{{Field: field, Range: &r}}},
		})
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		if got := len(result.Hits) == 1 && result.Hits[0].ID == "r1"; got != found || !found && len(result.Hits) > 0 {
			t.Errorf("%s %+v: %+v, want r1: %t", field, r, result.Hits, found)
		}
	}
	v := func(x any) *filter.Value { return &filter.Value{V: x} }
	f("made", filter.Range{GTE: v("2026-02-28T13:00:00+01:00"), LTE: v("2026-02-28T13:00:00+01:00")}, true)
	f("made", filter.Range{LTE: v("2026-02-28")}, true)
	f("made", filter.Range{GT: v("2026-02-27"), LT: v("2026-03")}, true)
	f("made", filter.Range{LT: v("2026-02-28")}, false)
	f("made", filter.Range{GT: v("2026-02-28")}, false)
	f("made", filter.Range{GT: v("2026-02-28T12:00:00Z")}, false)
	f("made", filter.Range{GT: v("2026-02-28T11:59:59.999999Z"), LT: v("2026-02-28T12:00:00.000001Z")}, true)
	f("made", filter.Range{GTE: v("0001"), LTE: v("9999")}, true)
	f("made", filter.Range{GT: v("9999")}, false)
	f("made", filter.Range{LT: v("0001-01-01")}, false)
	f("made", filter.Range{LT: v("0001-01-01T00:00+14:00")}, false)
	f("made", filter.Range{GTE: v(1772280000000.0)}, true) // a number is milliseconds, as Elasticsearch has them
	f("told", filter.Range{GTE: v("2026-02"), LTE: v("2026-02-28T00:00")}, true)
	f("told", filter.Range{GT: v("2026-02-28T00:00")}, false)
	f("day_kwd", filter.Range{GTE: v("2026-02-27"), LT: v("2026-02-27T02:00:00+01:00")}, true)
	f("day_kwd", filter.Range{GT: v("2026-02-27")}, false)
	f("day_kwd", filter.Range{GT: v(1.0)}, false)
	f("made_flt", filter.Range{GT: v("2026")}, false)
	f("made_flt", filter.Range{GT: v(1.7e9)}, true)
	f("official", filter.Range{GT: v("2026")}, false)
	f("official", filter.Range{GT: v(0.0)}, false)
}

// TestCopiesOfDocumentsAreNotMarked: a new index has the mark if the documents have the moments.
func TestCopiesOfDocumentsAreNotMarked(t *testing.T) {
	for copied, marked := range map[string]bool{engine.CopyReindex: false, engine.CopyRebuild: true} {
		e, prefix := open(t)
		kb := manuals()
		kb.Generation = 1
		if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
			t.Fatal(err)
		}
		unmark(t, prefix)
		wanted := kb
		wanted.VectorIndex = "flat"
		m := &engine.Migration{
			Ref: kb.Ref, From: kb, FromIndex: prefix + "-kb-acme-manuals-v1", Direction: engine.GoForward, Step: engine.StepCreate,
			Plan: engine.MappingPlan{Wanted: wanted, Diff: engine.MappingDiff{Class: engine.ChangeReindex, Copy: copied}},
		}
		env := engine.MigrationEnv{Save: func(context.Context) error { return nil }}
		if err := e.MigrationStep(t.Context(), m, env); err != nil {
			t.Fatal(err)
		}
		mapping := ask(t, "GET", devservices.Elasticsearch(t)+"/"+m.ToIndex+"/_mapping", "")
		if got := bytes.Contains(mapping, []byte(`"moments":true`)); got != marked {
			t.Errorf("by %s: %s, want the mark: %t", copied, brief.Of(mapping), marked)
		}
	}
}
