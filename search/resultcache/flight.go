package resultcache

import (
	"context"
	"sync"

	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/engines"
)

// flights are the computations in progress, one per key.
type flights struct {
	mu   sync.Mutex
	open map[key]*flight
}

// flight is one computation that any number of requests wait for. It has the time of the
// first of them, and is canceled when the last gives up.
type flight struct {
	key      key
	cancel   context.CancelFunc
	waiting  int // guarded by flights.mu
	done     chan struct{}
	response *search.Response // after done; shared and read-only
	shared   *search.Shared   // of the response; nil: it is not shared
	kept     bool             // it was found in the second tier
	err      error
}

// join gives the flight of a key. The caller who opens one gets the context to
// compute in, everybody else nil.
func (f *flights) join(ctx context.Context, k key) (joined *flight, first context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if joined = f.open[k]; joined != nil {
		joined.waiting++
		return joined, nil
	}
	first, cancel := detached(ctx)
	joined = &flight{key: k, done: make(chan struct{}), waiting: 1, cancel: cancel}
	f.open[k] = joined
	return joined, first
}

// detached is a context that goes on when its caller leaves. It keeps the deadline, as the
// steps of a search divide the remaining time.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	own := context.WithoutCancel(ctx)
	if deadline, limited := ctx.Deadline(); limited {
		return context.WithDeadline(own, deadline)
	}
	return context.WithCancel(own)
}

// land gives the answer to everybody waiting. Only the first call counts.
func (f *flights) land(landed *flight, response *search.Response, shared *search.Shared, err error) {
	select {
	case <-landed.done:
		return
	default:
	}
	landed.response, landed.shared, landed.err = response, shared, err
	f.mu.Lock()
	f.remove(landed)
	f.mu.Unlock()
	close(landed.done)
}

// wait gives the answer, or gives up with the context. A flight that nobody waits
// for any more is canceled, and nobody can join it.
func (f *flights) wait(ctx context.Context, joined *flight) (*search.Response, error) {
	select {
	case <-joined.done:
		return joined.response, joined.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	joined.waiting--
	if joined.waiting == 0 {
		joined.cancel()
		f.remove(joined)
	}
	return nil, engines.ContextFault(ctx)
}

// remove closes a flight to those who come later; f.mu is held.
func (f *flights) remove(closed *flight) {
	if f.open[closed.key] == closed {
		delete(f.open, closed.key)
	}
}
