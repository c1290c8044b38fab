package live

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	// createTries is how often a proposal that is in the way is waited for: one that another gateway makes is
	// accepted or withdrawn within some milliseconds.
	createTries = 8
	createWait  = 25 * time.Millisecond // grows with each, and differs
)

// Create stores a definition, whose searches take part from its start on. What cannot be run is refused: variants that
// knowledge bases cannot be searched by, and with fault.Conflict what would be in the way of another experiment.
//
// It is proposed first, where all gateways see it, and begins only if nothing is in its way after that: of two that are
// proposed at the same time at least one sees the other and withdraws. No clock decides.
func (s *Store) Create(ctx context.Context, scope access.Scope, d Definition) (*Experiment, error) {
	if err := s.check(ctx, scope, &d, s.options.Now()); err != nil {
		return nil, err
	}
	last := &Experiment{}
	for try := 1; ; try++ {
		made := &Experiment{Definition: d, By: scope.Key, proposed: true}
		rival, err := s.propose(ctx, scope.Tenant, made)
		if err != nil {
			return nil, err
		}
		if rival == nil {
			return made, s.renew(ctx, s.tenantOf(scope.Tenant))
		}
		if try == createTries {
			return nil, fault.New(fault.Conflict, "experiment %q is being made and is in the way: try again", rival.ID)
		}
		if try == createTries-1 && rival.version > 0 && last.ID == rival.ID && last.version == rival.version {
			if err := s.breakOff(ctx, scope.Tenant, rival); err != nil { // its gateway has died
				return nil, err
			}
		}
		last = rival
		wait := time.NewTimer(time.Duration(try) * (createWait + rand.N(createWait))) //nolint:gosec // no secret
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, fault.Wrap(fault.Timeout, ctx.Err(), "making experiment %q took too long", d.ID)
		case <-wait.C:
		}
	}
}

// propose stores an experiment and accepts it, or withdraws it where something is in its way: an error where that
// is to stay, else the proposal that has to be waited for.
func (s *Store) propose(ctx context.Context, tenant string, e *Experiment) (rival *Experiment, err error) {
	if rival, err = s.inTheWay(ctx, tenant, e); err != nil || rival != nil {
		return rival, err
	}
	if err := s.save(ctx, tenant, e); err != nil {
		if fault.Is(err, fault.Conflict) {
			return &Experiment{Definition: e.Definition}, nil // of the same id, and just made: the next look tells
		}
		return nil, err
	}
	if rival, err = s.inTheWay(ctx, tenant, e); err == nil && rival == nil {
		e.proposed = false
		err = s.save(ctx, tenant, e)
		if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			e.State = e.state(s.options.Now())
			return nil, err
		}
		return &Experiment{Definition: e.Definition}, nil // somebody took it for left behind
	}
	gone := s.options.Keeper.DeleteRecords(context.WithoutCancel(ctx), refOf(tenant, e.ID))
	if gone != nil && !fault.Is(gone, fault.NotFound) {
		return nil, gone
	}
	return rival, err
}

// inTheWay is the conflict with an experiment, or else with a proposal.
func (s *Store) inTheWay(ctx context.Context, tenant string, e *Experiment) (rival *Experiment, err error) {
	all, proposed, err := s.all(ctx, tenant)
	if err != nil {
		return nil, err
	}
	named := func(o *Experiment) bool { return o.ID == e.ID }
	if slices.ContainsFunc(all, named) {
		return nil, fault.New(fault.Conflict, "experiment %q exists already", e.ID)
	}
	if err := s.clash(e, all); err != nil {
		return nil, err
	}
	for _, o := range proposed {
		mine := named(o) && o.version == e.version
		if !mine && (named(o) || s.clash(e, append(slices.Clone(all), o)) != nil) {
			return o, nil
		}
	}
	return nil, nil
}

// breakOff takes a proposal away that nobody accepts or withdraws. It gets another version first, so that whoever made
// it cannot accept it any more.
func (s *Store) breakOff(ctx context.Context, tenant string, e *Experiment) error {
	err := s.save(ctx, tenant, e)
	if err == nil {
		err = s.options.Keeper.DeleteRecords(ctx, refOf(tenant, e.ID))
	}
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil // it was alive
	}
	return err
}
