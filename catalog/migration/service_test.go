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
	f := func(engines []string, says string) {
		t.Helper()
		s := New(Options{Catalog: fixed{kb: engine.KnowledgeBase{Engines: engines}}})
		_, err := s.Plan(t.Context(), Caller{}, "kb", Request{})
		refuses(t, err, fault.Unsupported, says)
		_, err = s.Diff(t.Context(), access.Scope{}, "kb", Change{})
		refuses(t, err, fault.Unsupported, says)
	}
	f(nil, "lives on engine embedded")
	f([]string{"elasticsearch", "embedded"}, "create another one with the schema that you want")
}
