package endpoint

import (
	"context"
	"net"
	"sync"
	"time"
)

// fasthttp reads nothing while a handler runs, so that it does not notice a client that
// disconnects. One goroutine checks the sockets of requests that take long.
const (
	lookAfter = 200 * time.Millisecond
	lookEvery = 250 * time.Millisecond
)

// watched are the requests under way. It is safe for concurrent use.
type watched struct {
	mu  sync.Mutex
	all map[*watch]struct{}
}

type watch struct {
	conn   net.Conn
	since  time.Time
	cancel context.CancelFunc
}

// add watches a request until stop is called: cancel is called when its client has disconnected.
func (w *watched) add(conn net.Conn, since time.Time, cancel context.CancelFunc) (stop func()) {
	request := &watch{conn: conn, since: since, cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[*watch]struct{}{}
	}
	w.all[request] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, request)
	}
}

// run looks until ctx ends.
func (w *watched) run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.look(now)
		}
	}
}

// look cancels the requests whose clients have disconnected.
func (w *watched) look(now time.Time) {
	for _, request := range w.long(now) {
		if hasLeft(request.conn) {
			request.cancel()
		}
	}
}

// long are the requests that take long. One that ends meanwhile does no harm: its connection
// may serve another by then, which is checked instead.
func (w *watched) long(now time.Time) []*watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*watch
	for request := range w.all {
		if now.Sub(request.since) > lookAfter {
			all = append(all, request)
		}
	}
	return all
}
