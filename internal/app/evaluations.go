package app

import (
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/gateway"
)

// addEvaluations keeps query sets, judgments and evaluations on the default engine, where new knowledge bases are too.
func (p *parts) addEvaluations(o *Options, options *gateway.Options) {
	_, usual := options.Searcher.Presets(o.demoTenant())
	keeper := p.storage.recordKeeper()
	if keeper == nil {
		return
	}
	kept := library.New(keeper, p.content.catalog)
	evaluations := runs.New(keeper, kept, p.searching.searcher, p.content.jobs)
	options.Library, options.Evaluations = exchange.Importer{Library: kept}, evaluations
	options.Gradings = runs.NewGradings(evaluations, p.content.catalog, grader(&o.Config.Judge))
	options.Tunings = runs.NewTunings(evaluations, p.searching.observer, p.content.catalog,
		tenantPresets{p.edits.presets, p.edits.planners, usual})
	if p.usage.events != nil { // a nil pointer in an interface is not nil
		options.Events, options.Clicks = p.usage.events, clicks.New(p.usage.events, kept)
	}
}

// grader is the model that judges, nil where none is configured.
func grader(j *config.Judge) runs.Grader {
	if j.URL == "" { // a nil pointer in an interface is not nil
		return nil
	}
	return judge.New(judge.Options{URL: j.URL, Model: j.Model, APIKey: j.APIKey.Reveal(), Timeout: j.Timeout})
}
