package app

import (
	"context"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/gateway"
)

// readyTimeout limits the time that a back end may take to answer.
const readyTimeout = 2 * time.Second

// readiness checks all back ends in parallel. Keyword search needs the engine of new knowledge
// bases; any other that is unavailable costs only its hits.
func (p *parts) readiness(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := map[string]func(context.Context) error{}
	for _, e := range p.storage.engines {
		checks[e.Name()] = e.Ping
	}
	if p.models.standard != nil {
		checks["embedding"] = p.models.standard.check
	}
	for name, m := range p.models.further {
		checks["embedding "+name] = m.check
	}
	if p.storage.redis != nil {
		checks["redis"] = func(ctx context.Context) error { return p.storage.redis.Ping(ctx).Err() }
	}
	needed := p.storage.standard
	var mu sync.Mutex
	var all sync.WaitGroup
	states := make(map[string]error, len(checks))
	for name, check := range checks {
		all.Go(func() {
			err := check(ctx)
			if err != nil && name != needed {
				err = gateway.Spare{Err: err}
			}
			mu.Lock()
			defer mu.Unlock()
			states[name] = err
		})
	}
	all.Wait()
	return states
}
