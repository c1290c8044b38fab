package live

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/search"
)

const (
	// renewEvery is the maximum age of the cached experiments: other gateways make and stop them too.
	renewEvery = 3 * time.Second
	// forgetAfter is how long a tenant is cached that does not search and has no experiment.
	forgetAfter = 10 * time.Minute
)

// tenant is one that has searched of late, and its experiments.
type tenant struct {
	name     string
	renewing sync.Mutex
	known    atomic.Pointer[[]*assigning] // nil: not read yet
	asked    atomic.Int64                 // Unix seconds of the latest search
}

// assigning is an experiment that is not over, ready for searches.
type assigning struct {
	*Experiment

	arms []arm
}

// arm is a variant as it is searched by.
type arm struct {
	*experiments.Variant
	*changes
}

// tenantOf is a tenant, which is known from now on.
func (s *Store) tenantOf(name string) *tenant {
	if t, known := s.tenants.Load(name); known {
		return t.(*tenant)
	}
	t := &tenant{name: name}
	t.asked.Store(s.options.Now().Unix())
	if other, was := s.tenants.LoadOrStore(name, t); was {
		return other.(*tenant)
	}
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
	return t
}

// running are the experiments of a tenant that are not over, as they were known some seconds ago. It never waits: a
// tenant that is new begins with none.
func (s *Store) running(name string, now time.Time) []*assigning {
	t := s.tenantOf(name)
	if at := now.Unix(); t.asked.Load() != at {
		t.asked.Store(at)
	}
	if known := t.known.Load(); known != nil {
		return *known
	}
	return nil
}

// take replaces the cached experiments by the stored ones.
func (t *tenant) take(all []*Experiment, log *slog.Logger) {
	var known []*assigning
	for _, e := range all {
		if e.State == Stopped || e.State == Ended {
			continue
		}
		a := &assigning{Experiment: e}
		for i := range e.Variants {
			c, err := parseChanges(e.Variants[i].Request)
			if err != nil { // a later version has made it
				log.Warn("an experiment cannot be run by this version", "experiment", e.ID, "error", err)
				break
			}
			a.arms = append(a.arms, arm{&e.Variants[i], c})
		}
		if len(a.arms) == len(e.Variants) {
			known = append(known, a)
		}
	}
	t.known.Store(&known)
}

func (t *tenant) isIdle(now time.Time) bool {
	known := t.known.Load()
	return known != nil && len(*known) == 0 && now.Unix()-t.asked.Load() > int64(forgetAfter/time.Second)
}

// renew updates the cached experiments, one caller at a time: an older reading never replaces a newer one.
func (s *Store) renew(ctx context.Context, t *tenant) error {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	all, _, err := s.all(ctx, t.name)
	if err == nil {
		t.take(all, s.options.Logger)
	}
	return err
}

// Run keeps the cached experiments up to date, and checks guard rails, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	var guards sync.WaitGroup
	defer guards.Wait()
	if s.options.Log != nil {
		guards.Go(func() { s.guard(ctx) })
	}
	for _, name := range s.options.Tenants {
		s.tenantOf(name)
	}
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	failing := false
	for {
		isNew := false
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			isNew = true
		case <-ticker.C:
		}
		err := s.renewAll(ctx, isNew)
		if err != nil && !failing && ctx.Err() == nil {
			s.options.Logger.Warn("experiments cannot be read; those that are known go on", "error", err)
		}
		failing = err != nil
	}
}

// renewAll reads the experiments of all tenants that search, or only of the new ones.
func (s *Store) renewAll(ctx context.Context, newOnes bool) (failed error) {
	for _, t := range s.tenants.Range {
		t := t.(*tenant)
		switch {
		case newOnes && t.known.Load() != nil:
		case t.isIdle(s.options.Now()):
			s.tenants.Delete(t.name)
		default:
			if err := s.renew(ctx, t); err != nil {
				failed = err
			}
		}
	}
	return failed
}

// part is the part of a search in an experiment.
type part struct {
	of   *assigning
	unit string
	arm  *arm // nil: both are asked for one list
}

// parts gives the parts of a search in all experiments. A search without a unit takes part in none, and neither does
// a search for everything, which has no preset.
func (s *Store) parts(name string, req *search.Request) (parts []part) {
	now := s.options.Now()
	known := s.running(name, now)
	if len(known) == 0 || req.Everything || req.Experiments != nil && !*req.Experiments {
		return nil
	}
	for _, a := range known {
		unit := a.unitOf(req.ClientID, req.SessionID)
		if unit == "" || len(unit) > search.MaxNameBytes || !a.Runs(now) || !a.covers(req.KnowledgeBases) {
			continue
		}
		variant, in := a.Assign(unit)
		if !in {
			continue
		}
		p := part{of: a, unit: unit}
		for i := range a.arms {
			if a.arms[i].Variant == variant {
				p.arm = &a.arms[i]
			}
		}
		parts = append(parts, p)
	}
	return parts
}
