package live

import (
	"context"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
)

// guardEvery is how often guard rails are looked at; where reading the log takes long, after guardRest times as long.
const (
	guardEvery = time.Minute
	guardRest  = 20
)

// guard looks at the guard rails of the tenants that search here, until ctx ends.
func (s *Store) guard(ctx context.Context) {
	counts := map[engine.RecordRef]*count{}
	next := time.NewTimer(guardEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		started := time.Now()
		s.lookAtRails(ctx, counts)
		next.Reset(max(guardEvery, guardRest*time.Since(started)))
	}
}

// lookAtRails stops experiments that crossed a guard rail. counts are the counts read before.
func (s *Store) lookAtRails(ctx context.Context, counts map[engine.RecordRef]*count) {
	running := map[engine.RecordRef]bool{}
	for _, value := range s.tenants.Range {
		t := value.(*tenant)
		known := t.known.Load()
		if known == nil {
			continue
		}
		for _, a := range *known {
			if len(a.GuardRails) == 0 || !a.Runs(s.options.Now()) {
				continue
			}
			ref := refOf(t.name, a.ID)
			running[ref] = true
			if counts[ref] == nil || !counts[ref].of.CreatedAt.Equal(a.CreatedAt) {
				counts[ref] = newCount(t.name, a.Experiment)
			}
			if err := s.lookAtRail(ctx, counts[ref]); err != nil {
				delete(counts, ref) // it may have counted a part
				if ctx.Err() == nil {
					s.options.Logger.Warn("the guard rails of an experiment cannot be looked at", "experiment", a.ID, "error", err)
				}
			}
		}
	}
	for ref := range counts {
		if !running[ref] {
			delete(counts, ref)
		}
	}
}

func (s *Store) lookAtRail(ctx context.Context, c *count) error {
	report, err := c.look(ctx, s.options.Log, s.options.Now(), true)
	if err != nil {
		return err
	}
	crossed := func(r experiments.Rail) bool { return r.Crossed }
	at := slices.IndexFunc(report.GuardRails, crossed)
	if at < 0 {
		return nil
	}
	reason := report.GuardRails[at].Reason() // also where the verdict is of something else
	stopped := *c.of                         // readers have the other one
	err = s.stop(ctx, c.tenant, &stopped, Stop{Reason: reason})
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil // somebody else was faster
	}
	if err == nil {
		s.options.Logger.Warn("an experiment was stopped", "experiment", c.of.ID, "reason", reason)
	}
	return err
}
