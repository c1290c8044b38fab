package engine

import (
	"context"
	"sync"
	"time"
)

// stopwatches measure how long one search has waited for each engine: the time limit of an engine covers all requests
// of a search, but not the time spent elsewhere. They are safe for concurrent use.
type stopwatches struct {
	mu sync.Mutex
	of map[any]*stopwatch
}

// stopwatch runs while a request to its engine is in flight.
type stopwatch struct {
	running int
	since   time.Time // when it began to run
	spent   time.Duration
}

type stopwatchKey struct{}

// OneSearch returns a context whose requests belong to one search: the search of ctx if it
// has one, else a new one.
func OneSearch(ctx context.Context) context.Context {
	if _, known := ctx.Value(stopwatchKey{}).(*stopwatches); known {
		return ctx
	}
	return context.WithValue(ctx, stopwatchKey{}, &stopwatches{of: map[any]*stopwatch{}})
}

// Asking begins a request to an engine, which ends with done. began is now less the time of earlier requests of the
// same search to this engine; now if there is no search.
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
