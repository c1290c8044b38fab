package main

import (
	"cmp"
	"maps"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// addEvaluations keeps query sets, judgments and evaluations on the default engine, where new knowledge bases are too.
func (a *App) addEvaluations(
	options *gateway.Options, searcher runs.Searcher, planners map[string]search.Planner,
) {
	keeper := a.recordKeeper()
	if keeper == nil {
		return
	}
	_, usual := options.Searcher.Presets(a.demoTenant())
	kept := library.New(keeper, a.catalog)
	evaluations := runs.New(keeper, kept, searcher, a.jobs)
	options.Library, options.Evaluations = kept, evaluations
	options.Tunings = runs.NewTunings(evaluations, a.observer, a.catalog, tenantPresets{a.presets, planners, usual})
}

// recordKeeper is the default engine; nil where it keeps no records.
func (a *App) recordKeeper() engine.RecordKeeper {
	for _, e := range a.engines {
		if keeper, ok := e.(engine.RecordKeeper); ok && e.Name() == cmp.Or(a.defaultEngine(), a.engines[0].Name()) {
			return keeper
		}
	}
	return nil
}

// tenantPresets are those of the configuration and those that a tenant has saved.
type tenantPresets struct {
	saved    *presets.Store
	planners map[string]search.Planner
	usual    string
}

// Planners implements runs.Presets.
func (p tenantPresets) Planners(tenant string) map[string]search.Planner {
	all := maps.Clone(p.planners)
	for _, name := range p.saved.Names(tenant) {
		if _, given := all[name]; !given {
			all[name] = p.saved.Planner(tenant, name)
		}
	}
	return all
}

// Custom implements runs.Presets.
func (p tenantPresets) Custom(tenant, name string) *presets.Custom {
	if d, source := p.saved.Given(name); source != "" {
		if d == nil {
			return nil
		}
		return &d.Custom
	}
	if saved := p.saved.InUse(tenant, name); saved != nil {
		return &saved.Definition.Custom
	}
	return nil
}

// Usual implements runs.Presets.
func (p tenantPresets) Usual() string { return p.usual }
