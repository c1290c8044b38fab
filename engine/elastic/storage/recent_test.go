package storage

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// TestHowLongALocationIsRemembered: for a minute, unless the knowledge base is described
// otherwise or is in another index.
func TestHowLongALocationIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{recent: newRecent()}
		kb := &engine.KnowledgeBase{Ref: engine.Ref{Tenant: "acme", ID: "manuals"}, Generation: 1, Name: "Manuals"}
		at := &Location{Index: "one"}
		f := func(name string, kb *engine.KnowledgeBase, want bool) {
			t.Helper()
			if found, ok := s.recent.location(kb); ok != want || ok && found != at {
				t.Errorf("%s: %+v, %v", name, found, ok)
			}
		}
		f("before", kb, false)
		s.recent.rememberLocation(kb, at)
		f("at once", kb, true)
		renamed, next := *kb, *kb
		renamed.Name, next.Generation = "Guides", 2
		f("described in another way", &renamed, false)
		f("of another generation", &next, false)
		time.Sleep(locationLife + time.Second)
		f("after a minute", kb, false)
		s.recent.rememberLocation(kb, at)
		before := s.Writes(kb.Ref)
		s.Forget(kb.Ref)
		f("after a migration", kb, false)
		if s.Writes(kb.Ref) == before {
			t.Error("what was read of its chunks still counts after a migration")
		}
	})
}
