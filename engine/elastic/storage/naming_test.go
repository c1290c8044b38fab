package storage

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestNoTwoChunksHaveOneID: a shared index holds chunks of all tenants.
func TestNoTwoChunksHaveOneID(t *testing.T) {
	seen := map[string]bool{}
	f := func(tenant, kb, chunk string) {
		t.Helper()
		id := documentID(&engine.KnowledgeBase{Ref: engine.Ref{Tenant: tenant, ID: kb}}, chunk)
		if seen[id] || len(id) > maxID {
			t.Errorf("%q, %q, %.20q: %q is another's _id, or too long", tenant, kb, chunk, id)
		}
		seen[id] = true
	}
	f("a", "b", "c")
	f("a|b", "c", "d")
	f("a", "b|c", "d")
	f("a", "b", "c|d")
	f("a%7Cb", "c", "d")
	f("a", "b%7Cc", "d")
	f("a", "b", strings.Repeat("c", maxID))
	f("a", "b", strings.Repeat("c", maxID)+"d")
	f("a", "bc", strings.Repeat("c", maxID))
}
