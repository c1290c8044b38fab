package app

import (
	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/gateway"
)

// addExperiments puts experiments and the log of searches before the searches of users. Experiments are kept where
// evaluations are.
func (a *App) addExperiments(options *gateway.Options) {
	keeper := a.recordKeeper()
	if keeper == nil {
		return
	}
	kept := live.Options{
		Keeper: keeper, Planner: a.observer, Catalog: a.catalog, Logger: a.Logger, Tenants: []string{a.demoTenant()},
	}
	for i := range a.Config.Keys {
		kept.Tenants = append(kept.Tenants, a.Config.Keys[i].Tenant)
	}
	var note func(access.Scope, *live.Searched)
	if a.events != nil { // a nil pointer in an interface is not nil
		kept.Log, note = a.events, a.NoteSearch
	}
	a.trials = live.New(kept)
	options.Experiments = a.trials
	options.Searcher = live.NewSearcher(options.Searcher, a.trials, note)
}

// NoteSearch logs a search.
func (a *App) NoteSearch(scope access.Scope, s *live.Searched) {
	a.events.Record(scope.Tenant, a.events.Query(&events.Search{
		Tenant: scope.Tenant, ClientID: s.Request.ClientID, SessionID: s.Request.SessionID, Request: *s.Request,
		Response: s.Response, Err: s.Err, Started: s.Started, Took: s.Took, Experiments: s.Experiments,
	}))
}
