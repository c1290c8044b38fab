package elastic

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// TestHitsAreFoundByTheirIDs: as a map finds them, however many were expected.
func TestHitsAreFoundByTheirIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := newUnion(&plan{})
		defer u.release()
		u.expect(rapid.IntRange(0, 40).Draw(t, "expected"))
		want := map[string]int{}
		for _, id := range rapid.SliceOf(rapid.StringMatching(`[a-d]{0,4}`)).Draw(t, "ids") {
			if at, known := u.find(id); known {
				if wanted, ok := want[id]; !ok || at != wanted {
					t.Fatalf("%q is found at %d, want %d, %t", id, at, wanted, ok)
				}
			}
			at := u.hit(&engine.Hit{Candidate: scoring.Candidate{ID: id}})
			if wanted, known := want[id]; known && at != wanted || !known && at != len(want) {
				t.Fatalf("%q is at %d, want %d, %t", id, at, wanted, known)
			}
			want[id] = at
		}
		if len(u.hits) != len(want) {
			t.Fatalf("%d hits, want %d", len(u.hits), len(want))
		}
	})
}
