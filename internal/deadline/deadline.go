// Package deadline ends tests of what does not hang, where it does.
package deadline

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"
)

// AwayFromMidnight waits for the day that begins within a moment (UTC): it would begin in the middle of a test of what
// belongs to a day.
func AwayFromMidnight(t testing.TB, moment time.Duration) {
	t.Helper()
	if left := untilMidnight(time.Now()); left < moment {
		time.Sleep(left)
	}
}

func untilMidnight(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// Set fails a test that is not over in time, at once and with what every goroutine waits for: without it a test that
// hangs takes the limit of all tests of its package. It comes after t.Parallel, which waits for others.
func Set(t testing.TB, limit time.Duration) {
	t.Helper()
	timer := time.AfterFunc(limit, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s hangs: it is not over after %v", t.Name(), limit))
	})
	t.Cleanup(func() { timer.Stop() })
}
