package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

// usage holds the records of how users search.
type usage struct {
	events *events.Log // nil: searches and events are not logged
	trials *live.Store // experiments; nil: the default engine keeps none
}

// openEvents opens the log of searches and events, where it is on.
func (u *usage) openEvents(ctx context.Context, o *Options, s *storage, metrics prometheus.Registerer) (err error) {
	c := &o.Config.Events
	if !c.Enabled {
		return nil
	}
	keeper := s.recordKeeper()
	if keeper == nil {
		return fault.New(fault.Unsupported, "events.enabled is true, and the default engine has no place for events")
	}
	u.events, err = events.Open(ctx, events.Options{
		Folder: o.Config.DataDir, Keeper: keeper, Text: events.TextRule(c.Text), HashKey: c.HashKey.Reveal(),
		RetentionDays: c.RetentionDays, SpoolBytes: int64(c.SpoolBytes), Application: c.Application,
		Logger: o.Logger, Registry: metrics,
	})
	return err
}

// addExperiments puts experiments and the log of searches before the searches of users. Experiments are kept where
// evaluations are.
func (u *usage) addExperiments(o *Options, p *parts, options *gateway.Options) {
	keeper := p.storage.recordKeeper()
	if keeper == nil {
		return
	}
	kept := live.Options{
		Keeper: keeper, Planner: p.searching.observer, Catalog: p.content.catalog, Logger: o.Logger,
		Tenants: []string{o.demoTenant()},
	}
	for i := range o.Config.Keys {
		kept.Tenants = append(kept.Tenants, o.Config.Keys[i].Tenant)
	}
	var note func(access.Scope, *live.Searched)
	if u.events != nil { // a nil pointer in an interface is not nil
		kept.Log, note = u.events, u.note
	}
	u.trials = live.New(kept)
	options.Experiments = u.trials
	options.Searcher = live.NewSearcher(options.Searcher, u.trials, note)
}

// note logs a search.
func (u *usage) note(scope access.Scope, s *live.Searched) {
	u.events.Record(scope.Tenant, u.events.Query(&events.Search{
		Tenant: scope.Tenant, ClientID: s.Request.ClientID, SessionID: s.Request.SessionID, Request: *s.Request,
		Response: s.Response, Err: s.Err, Started: s.Started, Took: s.Took, Experiments: s.Experiments,
	}))
}
