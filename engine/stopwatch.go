package engine

import (
	"context"
	"sync"
	"time"
)

// stopwatches tell how long one search has been asking each engine: its limit for a search holds for all of its
// requests together, and what the search waits for elsewhere, at another engine too, does not count. They are safe
// for concurrent use.
type stopwatches struct {
	mu sync.Mutex
	of map[any]*stopwatch
}

// stopwatch runs while a request of its engine does.
type stopwatch struct {
	running int
	since   time.Time // when it began to run
	spent   time.Duration
}

type stopwatchKey struct{}

// OneSearch gives a context whose requests belong to one search: that which ctx belongs to,
// or else a new one.
func OneSearch(ctx context.Context) context.Context {
	if _, known := ctx.Value(stopwatchKey{}).(*stopwatches); known {
		return ctx
	}
	return context.WithValue(ctx, stopwatchKey{}, &stopwatches{of: map[any]*stopwatch{}})
}

// Asking begins a request to an engine, which ends with done. It began, less what earlier requests of the same
// search to this engine took: now for the first, and for a request that belongs to no search.
func Asking(ctx context.Context, asked any) (began time.Time, done func()) {
	now := time.Now()
	all, ok := ctx.Value(stopwatchKey{}).(*stopwatches)
	if !ok {
		return now, func() {}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.of[asked]
	if s == nil {
		s = &stopwatch{}
		all.of[asked] = s
	}
	if s.running == 0 {
		s.since = now
	}
	s.running++
	return s.since.Add(-s.spent), func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		if s.running--; s.running == 0 {
			s.spent += time.Since(s.since)
		}
	}
}
