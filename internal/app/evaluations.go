package app

import (
	"cmp"
	"context"
	"maps"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// addEvaluations keeps query sets, judgments and evaluations on the default engine, where new knowledge bases are too.
func (a *App) addEvaluations(
	options *gateway.Options, searcher runs.Searcher, planners map[string]search.Planner,
) {
	_, usual := options.Searcher.Presets(a.demoTenant())
	keeper := a.recordKeeper()
	if keeper == nil {
		return
	}
	kept := library.New(keeper, a.catalog)
	evaluations := runs.New(keeper, kept, searcher, a.jobs)
	options.Library, options.Evaluations = exchange.Importer{Library: kept}, evaluations
	options.Gradings = runs.NewGradings(evaluations, a.catalog, a.grader())
	options.Tunings = runs.NewTunings(evaluations, a.observer, a.catalog, tenantPresets{a.presets, planners, usual})
	if a.events != nil { // a nil pointer in an interface is not nil
		options.Events, options.Clicks = a.events, clicks.New(a.events, kept)
	}
}

// recordKeeper is the default engine; nil where it keeps no records.
func (a *App) recordKeeper() engine.RecordKeeper {
	keeper, _ := a.Engine(cmp.Or(a.defaultEngine(), a.engines[0].Name())).(engine.RecordKeeper)
	return keeper
}

// openEvents opens the log of searches and events, where it is on.
func (a *App) openEvents(ctx context.Context) (err error) {
	c := &a.Config.Events
	if !c.Enabled {
		return nil
	}
	keeper := a.recordKeeper()
	if keeper == nil {
		return fault.New(fault.Unsupported, "events.enabled is true, and the default engine has no place for events")
	}
	a.events, err = events.Open(ctx, events.Options{
		Folder: a.Config.DataDir, Keeper: keeper, Text: events.TextRule(c.Text), HashKey: c.HashKey.Reveal(),
		RetentionDays: c.RetentionDays, SpoolBytes: int64(c.SpoolBytes), Application: c.Application,
		Logger: a.Logger, Registry: a.metrics,
	})
	return err
}

// grader is the model that judges, nil where none is configured.
func (a *App) grader() runs.Grader {
	j := &a.Config.Judge
	if j.URL == "" { // a nil pointer in an interface is not nil
		return nil
	}
	return judge.New(judge.Options{URL: j.URL, Model: j.Model, APIKey: j.APIKey.Reveal(), Timeout: j.Timeout})
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
