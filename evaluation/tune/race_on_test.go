//go:build race

package tune

import (
	"testing"

	"github.com/hybridge-search/hybridge/internal/skips"
)

// asked are fewer questions under the race detector, which makes searches ten times slower: `make memory` asks all.
const asked = 12 // of which five folds need ten

// comparedSets is one set: what another would show is no race.
var comparedSets = []string{"xquad_zh"}

// withoutRaces leaves a long calculation, whose goroutines other tests have too, to `make memory`.
func withoutRaces(t *testing.T) {
	t.Helper()
	skips.ByDesign(t, "make memory runs it without the race detector")
}
