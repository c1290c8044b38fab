package resultcache

import (
	"context"
	"sync"

	"github.com/hybridge-search/hybridge/search"
)

// flights are the computations under way, one per key.
type flights struct {
	mu   sync.Mutex
	open map[key]*flight
}

// flight is one computation and how many wait for it. It ends when nobody does.
type flight struct {
	done    chan struct{}
	waiting int
	cancel  context.CancelFunc
	answer  *answer
	err     error
}

// join gives the flight of a key and whether the caller is the first, who has to
// start it with the context given.
func (f *flights) join(ctx context.Context, k key) (joined *flight, first context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if joined = f.open[k]; joined != nil {
		joined.waiting++
		return joined, nil
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	joined = &flight{done: make(chan struct{}), waiting: 1, cancel: cancel}
	f.open[k] = joined
	return joined, own
}

// land gives everybody the answer, the first time it is called; who comes later
// starts anew.
func (f *flights) land(k key, landed *flight, answer *answer, err error) {
	select {
	case <-landed.done:
		return
	default:
	}
	landed.answer, landed.err = answer, err
	f.forget(k, landed)
	close(landed.done)
}

func (f *flights) forget(k key, gone *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[k] == gone {
		delete(f.open, k)
	}
}

// wait gives the answer, or leaves with the context; the last to leave ends the
// flight, and nobody joins it any more.
func (f *flights) wait(ctx context.Context, k key, joined *flight) (*answer, error) {
	select {
	case <-joined.done:
		return joined.answer, joined.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	joined.waiting--
	if joined.waiting == 0 {
		joined.cancel()
		if f.open[k] == joined {
			delete(f.open, k)
		}
	}
	return nil, search.ContextFault(ctx)
}
