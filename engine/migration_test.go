package engine

import (
	"testing"
	"time"
)

func TestTheTimeThatIsLeft(t *testing.T) {
	f := func(copied int, took time.Duration, throttle, rate, remaining float64) {
		t.Helper()
		p := MigrationProgress{Done: 400, Total: 1000, Throttle: throttle}
		if p.Measure(copied, took); p.Rate != rate || p.Remaining != remaining {
			t.Errorf("%d in %s at most %g a second: %+v, want %g and %g s", copied, took, throttle, p, rate, remaining)
		}
	}
	f(100, time.Second, 0, 100, 6)
	f(1000, time.Second, 20, 1000, 30) // the first page is not held yet
	f(10, time.Second, 20, 10, 60)     // slower than the limit
	f(0, 0, 20, 0, 30)                 // nothing measured since it was taken over
	f(0, time.Second, 0, 0, 0)         // not known
}
