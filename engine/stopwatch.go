package engine

import (
	"context"
	"sync"
	"time"
)

// stopwatch tells how long one search has been asking engines: a limit for a search holds
// for all of its requests together. It is safe for concurrent use.
type stopwatch struct {
	mu    sync.Mutex
	began time.Time // zero before the first request
}

type stopwatchKey struct{}

// OneSearch gives a context whose requests belong to one search: that which ctx belongs to,
// or else a new one.
func OneSearch(ctx context.Context) context.Context {
	if _, known := ctx.Value(stopwatchKey{}).(*stopwatch); known {
		return ctx
	}
	return context.WithValue(ctx, stopwatchKey{}, &stopwatch{})
}

// Began is when the search that a request belongs to sent its first one: now for the first,
// and for a request that belongs to none.
func Began(ctx context.Context) time.Time {
	now := time.Now()
	s, ok := ctx.Value(stopwatchKey{}).(*stopwatch)
	if !ok {
		return now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = now
	}
	return s.began
}

// Pause stops the time of a search until resume: what else it waits for has a limit of its
// own.
func Pause(ctx context.Context) (resume func()) {
	s, ok := ctx.Value(stopwatchKey{}).(*stopwatch)
	if !ok {
		return func() {}
	}
	paused := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.began.IsZero() {
			s.began = s.began.Add(time.Since(paused))
		}
	}
}
