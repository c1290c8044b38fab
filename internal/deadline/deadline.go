// Package deadline ends tests of what does not hang, where it does.
package deadline

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"
)

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
