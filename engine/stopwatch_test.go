package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// TestEachEngineHasItsOwnTime: what one engine takes is not taken from another, requests at the same time count once,
// and neither does what lies between them.
//
// Promise: "an engine's time never passes while another is waited for" (docs/reliability.md)
func TestEachEngineHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := engine.OneSearch(t.Context())
		f := func(asked string, spent time.Duration) (done func()) {
			t.Helper()
			began, done := engine.Asking(ctx, asked)
			if took := time.Since(began); took != spent {
				t.Errorf("%s has taken %v, want %v", asked, took, spent)
			}
			return done
		}
		slow := f("slow", 0)
		time.Sleep(2 * time.Second)
		f("other", 0)()
		slow()
		time.Sleep(time.Hour) // a model is asked
		first := f("slow", 2*time.Second)
		time.Sleep(time.Second)
		second := f("slow", 3*time.Second)
		first()
		time.Sleep(time.Second)
		second()
		f("slow", 4*time.Second)()
		f("other", 0)()
		if began, _ := engine.Asking(engine.OneSearch(t.Context()), "slow"); time.Since(began) != 0 {
			t.Error("another search has taken the time of this one")
		}
	})
}
