package fault_test

import (
	"math"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// An error shows a value as the caller sent it, which is JSON.
func TestInvalidShowsTheValueAsSent(t *testing.T) {
	type rewrite struct {
		Phrasings   int    `json:"phrasings,omitempty"`
		TranslateTo string `json:"translate_to,omitempty"`
	}
	shows := func(value any, want string) {
		t.Helper()
		if got := fault.Invalid("f", value, "x").Detail; got != "f is "+want+"; it must be x" {
			t.Errorf("%q; want %q as the value", got, want)
		}
	}
	shows("a", `"a"`)
	shows(3, `3`)
	shows(0.5, `0.5`)
	shows(2*time.Second, `2s`)
	shows(fault.Length(2), `a list of 2`)
	shows(rewrite{Phrasings: 3}, `{"phrasings":3}`)
	shows(&rewrite{TranslateTo: "<en>"}, `{"translate_to":"<en>"}`)
	shows([]string{"a", "b c"}, `["a","b c"]`)
	shows([]string(nil), `[]`)
	shows(map[string]float64{"b": 2, "a": 1}, `{"a":1,"b":2}`)
	shows(nil, `null`)
	shows([]float64{math.NaN()}, `[NaN]`)
}
