package mirror

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// watchful is an engine that looks around whenever it is asked for its name.
type watchful struct {
	engine.Engine
	look func()
}

func (n *watchful) Name() string {
	n.look()
	return "slow"
}

// TestLaggards: who hangs is left out for as long as failures in a row say, and an answer ends that. The clock is the
// test's own. What is known of engines is only looked at and changed under the lock: an engine is asked for its name
// in the middle of both.
func TestLaggards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Mirror{retry: time.Second, laggards: laggards{all: map[string]laggard{}}}
		asked := 0
		e := &watchful{look: func() {
			if asked++; m.laggards.mu.TryLock() {
				m.laggards.mu.Unlock()
				t.Error("somebody else may change what is being read")
			}
		}}
		hung, refused := fault.New(fault.Timeout, "hung"), fault.New(fault.Unavailable, "away")
		f := func(what string, err error, rests time.Duration) {
			t.Helper()
			m.note(e, err)
			if away := m.laggards.skips(e); away != (rests > 0) {
				t.Errorf("%s: left out %v, want for %v", what, away, rests)
			}
			if rests == 0 {
				return
			}
			time.Sleep(rests - time.Nanosecond)
			if !m.laggards.skips(e) {
				t.Errorf("%s: tried before %v are over", what, rests)
			}
			time.Sleep(time.Nanosecond)
			if m.laggards.skips(e) {
				t.Errorf("%s: not tried after %v", what, rests)
			}
		}
		f("it answers", nil, 0)
		f("it hangs", hung, time.Second)
		f("again", hung, 2*time.Second)
		f("and again", hung, 4*time.Second)
		f("away is no hang", refused, 0)
		f("the first of a new row", hung, time.Second)
		f("it answers again", nil, 0)
		for range 20 {
			m.note(e, hung)
		}
		f("for very long", hung, longestRetry)
		if asked == 0 {
			t.Error("the engine was never asked")
		}
	})
}
