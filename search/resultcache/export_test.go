package resultcache

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

// WaitForWaiting returns when so many requests wait for computations.
func (s *Searcher) WaitForWaiting(n int) {
	for {
		s.flights.mu.Lock()
		waiting := 0
		for _, f := range s.flights.open {
			waiting += f.waiting
		}
		s.flights.mu.Unlock()
		if waiting == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Bytes is what the memory holds.
func (s *Searcher) Bytes() float64 {
	return s.memory.bytes()
}

// WaitForWork returns when what goes on after an answer is done.
func (s *Searcher) WaitForWork() { s.work.Wait() }

// Key gives the key of a request.
func (s *Searcher) Key(ctx context.Context, scope access.Scope, req *search.Request) (string, error) {
	k, err := s.keyOf(ctx, scope, req, newBasis())
	return nameOf(k), err
}
