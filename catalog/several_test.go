package catalog

import (
	"context"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// together is several engines as one.
type together struct {
	engine.Engine // the first
	all           []*fakeEngine
}

func (s *together) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	for _, e := range s.all {
		kb.Engine = e.name
		if err := e.CreateKnowledgeBase(ctx, kb); err != nil {
			return err
		}
	}
	return nil
}

func (s *together) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	for _, e := range s.all {
		if err := e.DeleteKnowledgeBase(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

func (s *together) Check(context.Context, engine.KnowledgeBase, bool) (*engine.DriftReport, error) {
	return &engine.DriftReport{Reference: s.all[0].name, Chunks: 7}, nil
}

func TestSeveralEngines(t *testing.T) {
	small, large := newFake("embedded"), newFake("elasticsearch")
	small.can.MaxDims = 1000
	c := New([]engine.Engine{small, large}, Options{
		Mirror: func(names []string) (engine.Engine, error) {
			s := &together{}
			for _, name := range names {
				s.all = append(s.all, map[string]*fakeEngine{"embedded": small, "elasticsearch": large}[name])
			}
			s.Engine = s.all[0]
			return s, nil
		},
	})
	num := func(n int) *int { return &n }
	bad := func(spec Spec, kind fault.Kind, parts ...string) {
		t.Helper()
		spec.ID = "kb"
		_, err := c.Create(ctx, acme, spec)
		wantKind(t, err, kind, parts...)
	}
	both := []string{"elasticsearch", "embedded"}
	bad(Spec{Engines: []string{"solr"}}, fault.InvalidArgument, "engines", `"solr"`)
	bad(Spec{Engines: []string{"embedded", "embedded"}}, fault.InvalidArgument, "engines", "different")
	bad(Spec{Engines: []string{""}}, fault.InvalidArgument, "engines")
	bad(Spec{Engine: "embedded", Engines: both}, fault.InvalidArgument, "engine", "left out")
	bad(Spec{Engines: both, Attach: &engine.Attachment{Index: "i"}}, fault.InvalidArgument, "attach")
	bad(Spec{Engines: both, Dimensions: num(1001)}, fault.InvalidArgument, "dimensions", "1000")

	kb := create(t, c, acme, Spec{ID: "kb", Engines: both, Dimensions: num(8)})
	if kb.Engine != "elasticsearch" || !slices.Equal(kb.Engines, both) {
		t.Errorf("made %+v", kb)
	}
	if len(small.bases) != 1 || len(large.bases) != 1 {
		t.Errorf("%d and %d knowledge bases on the engines; want 1 small.bases and 1 large.bases", len(small.bases), len(large.bases))
	}
	listed, err := c.List(ctx, acme)
	if err != nil || len(listed) != 1 || listed[0].Engine != "elasticsearch" {
		t.Errorf(`listed %+v, %v; want no error and 1 listed and listed[0].Engine "elasticsearch"`, listed, err)
	}
	found, e, err := c.Get(ctx, acme, "kb")
	if _, ok := e.(*together); err != nil || !ok || found.Engine != "elasticsearch" {
		t.Errorf(`found %+v on %T, %v; want no error and ok and found.Engine "elasticsearch"`, found, e, err)
	}
	if report, err := c.Check(ctx, acme, "kb", true); err != nil || report.Chunks != 7 {
		t.Errorf("checked %+v, %v; want no error and report.Chunks 7", report, err)
	}
	if err := c.Delete(ctx, acme, "kb"); err != nil || len(small.bases)+len(large.bases) != 0 {
		t.Errorf("after the delete %d and %d, %v; want no error and none left", len(small.bases), len(large.bases), err)
	}

	create(t, c, acme, Spec{ID: "one", Engines: []string{"embedded"}})
	_, err = c.Check(ctx, acme, "one", false)
	wantKind(t, err, fault.Unsupported, "embedded alone")
	_, err = c.Check(ctx, acme, "absent", false)
	wantKind(t, err, fault.NotFound)
}
