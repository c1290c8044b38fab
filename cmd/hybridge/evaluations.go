package main

import (
	"cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/gateway"
)

// addEvaluations keeps query sets, judgments and evaluations on the default engine, where new knowledge bases are too.
func (a *App) addEvaluations(options *gateway.Options, searcher runs.Searcher) {
	for _, e := range a.engines {
		keeper, ok := e.(engine.RecordKeeper)
		if !ok || e.Name() != cmp.Or(a.defaultEngine(), a.engines[0].Name()) {
			continue
		}
		kept := library.New(keeper, a.catalog)
		options.Library, options.Evaluations = kept, runs.New(keeper, kept, searcher, a.jobs)
	}
}
