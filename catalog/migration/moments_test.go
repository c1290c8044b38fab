package migration

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

// TestMomentsComeWithANewIndex: an index of before times were kept as moments answers right, a plan offers it a new
// one, and that has the moments of all documents.
func TestMomentsComeWithANewIndex(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(40)
	for id, c := range want {
		c.Metadata["at"] = []any{"2026-06-10T22:00:00+02:00", fmt.Sprintf("2026-07-%02d", 1+len(id)%28)}
		want[id] = c
	}
	g.create(want)
	var index map[string]struct {
		Mappings struct {
			Meta map[string]any `json:"_meta"`
		} `json:"mappings"`
	}
	old := s.prefix + "-kb-t-kb-v1"
	s.ask("GET", "/"+old+"/_mapping", "", &index)
	meta := index[old].Mappings.Meta
	s.ask("PUT", "/"+old+"/_mapping", fmt.Sprintf(`{"_meta": {"hybridge_version": 1, "kind": "chunks", "dimensions": 2, "analyzer": %q, "tokenizer": %q}}`,
		meta["analyzer"], meta["tokenizer"]), nil)
	s.ask("POST", "/"+old+"/_update_by_query?refresh", `{"script": {"source":
		"ctx._source.meta.keySet().removeIf(key -> key.startsWith('%moments'))"}}`, nil)
	found := func() int {
		t.Helper()
		bound := filter.Value{V: "2026-06-10T20:00Z"}
		s.ask("POST", "/"+s.prefix+"-kb-t-kb-v*/_refresh", "", nil)
		result, err := s.gateway(nil).engine.Search(t.Context(), &engine.Request{
			KB:   g.kb(),
			Legs: []engine.Leg{{Name: "v", Field: engine.FieldVector, K: 2 * len(want), Vector: []float32{1, 0}}},
			Filter: engine.Filter{
				Conditions: []filter.Condition{{Field: "at", Range: &filter.Range{GTE: &bound, LTE: &bound}}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(result.Hits)
	}
	if n := found(); n != len(want) {
		t.Errorf("%d chunks in the old index, want %d", n, len(want))
	}
	m := g.apply(Change{}, engine.MappingOptions{})
	if d := m.Plan.Diff; d.Class != engine.ChangeReindex || d.Copy != engine.CopyRebuild || len(d.Changes) != 1 || d.Changes[0].Code != "moments" {
		t.Errorf(`planned %+v; want d.Class ChangeReindex and d.Copy CopyRebuild and 1 d.Changes and d.Changes[0].Code "moments"`, d)
	}
	m = g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
	var counted struct {
		Count int `json:"count"`
	}
	s.ask("POST", "/"+m.ToIndex+"/_count", `{"query": {"exists": {"field": "meta.%moments:at"}}}`, &counted)
	if n := found(); n != len(want) || counted.Count != n {
		t.Errorf("%d chunks in the new index, of which %d have moments; want %d", n, counted.Count, len(want))
	}
	if d, err := g.Diff(t.Context(), scope, "kb", Change{}); err != nil || d.Class != engine.ChangeNone {
		t.Errorf("after it there is still %+v, %v", d, err)
	}
}
