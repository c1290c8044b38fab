// Package parallel divides work among the processors.
package parallel

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// portion is how many calls are worth another goroutine.
const portion = 16

// Each calls do for 0..n-1, on several processors when there are many.
func Each(n int, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += portion {
		group.Go(func() error {
			for i := from; i < min(from+portion, n); i++ {
				do(i)
			}
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
}
