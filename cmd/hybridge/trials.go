package main

import (
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/gateway"
)

// addExperiments puts experiments before the searches of users, which are kept where evaluations are.
func (a *App) addExperiments(options *gateway.Options) {
	keeper := a.recordKeeper()
	if keeper == nil {
		return
	}
	a.trials = live.New(live.Options{Keeper: keeper, Planner: a.observer, Catalog: a.catalog, Logger: a.log})
	options.Experiments = a.trials
	options.Searcher = live.NewSearcher(options.Searcher, a.trials, nil)
}
