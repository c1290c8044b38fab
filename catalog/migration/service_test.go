package migration

import (
	"context"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// fixed is a catalog of one knowledge base, on an engine that migrates nothing.
type fixed struct {
	engine.Engine
	kb engine.KnowledgeBase
}

func (f fixed) Get(context.Context, access.Scope, string) (engine.KnowledgeBase, engine.Engine, error) {
	return f.kb, f, nil
}
func (f fixed) Engines() []engine.Engine { return []engine.Engine{f} }
func (fixed) Expire()                    {}
func (fixed) Name() string               { return "embedded" }

// What cannot migrate says so, and what to do instead.
func TestWhatCannotMigrate(t *testing.T) {
	s := New(Options{Catalog: fixed{}})
	_, err := s.Plan(t.Context(), Caller{}, "kb", Request{})
	refuses(t, err, fault.Unsupported, "lives on engine embedded")
	_, err = s.Diff(t.Context(), access.Scope{}, "kb", Change{})
	refuses(t, err, fault.Unsupported, "lives on engine embedded")
}
