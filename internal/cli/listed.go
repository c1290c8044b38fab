package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/presets"
)

// evaluationNames are the ids of evaluations.
func evaluationNames(ctx context.Context, a *asked) (ids []string) {
	var all quality.EvaluationList
	if a.client == nil || a.client.Get(ctx, EvaluationsPath, &all) != nil {
		return nil
	}
	for i := range all.Evaluations {
		ids = append(ids, all.Evaluations[i].ID)
	}
	return slices.Clip(ids)
}

// experimentNames are the ids of experiments.
func experimentNames(ctx context.Context, a *asked) (ids []string) {
	var all quality.ExperimentList
	if a.client == nil || a.client.Get(ctx, ExperimentsPath, &all) != nil {
		return nil
	}
	for i := range all.Experiments {
		ids = append(ids, all.Experiments[i].ID)
	}
	return ids
}

// querySetNames are the ids of query sets.
func querySetNames(ctx context.Context, a *asked) (ids []string) {
	var all quality.QuerySets
	if a.client == nil || a.client.Get(ctx, QuerySetsPath, &all) != nil {
		return nil
	}
	for i := range all.QuerySets {
		ids = append(ids, all.QuerySets[i].ID)
	}
	return ids
}

// listNames are the ids of judgment lists.
func listNames(ctx context.Context, a *asked) (ids []string) {
	var all quality.JudgmentLists
	if a.client == nil || a.client.Get(ctx, ListsPath, &all) != nil {
		return nil
	}
	for i := range all.Lists {
		ids = append(ids, all.Lists[i].ID)
	}
	return slices.Clip(ids)
}

// tuningNames are the ids of tunings.
func tuningNames(ctx context.Context, a *asked) (ids []string) {
	var all quality.TuningList
	if a.client == nil || a.client.Get(ctx, TuningsPath, &all) != nil {
		return nil
	}
	for i := range all.Tunings {
		ids = append(ids, all.Tunings[i].ID)
	}
	return ids
}

func knowledgeBases(ctx context.Context, a *asked) (ids []string) {
	var list gateway.KnowledgeBases
	a.get(ctx, "/v1/knowledge-bases", &list)
	for i := range list.KnowledgeBases {
		ids = append(ids, list.KnowledgeBases[i].ID)
	}
	return ids
}

// engineNames gives the engines of the gateway, or all possible ones without a gateway.
func engineNames(ctx context.Context, a *asked) (all []string) {
	var list gateway.KnowledgeBases
	a.get(ctx, "/v1/knowledge-bases", &list)
	for _, e := range list.Engines {
		all = append(all, e.Name)
	}
	if len(all) == 0 {
		all = []string{app.EmbeddedName, elastic.Name, postgres.Name}
	}
	return all
}

// presetNames gives the presets of the gateway, or those of the settings without one.
func presetNames(ctx context.Context, a *asked) []string {
	var list versioned.Presets
	a.get(ctx, PresetsPath, &list)
	if len(list.Presets) > 0 || a.settings == nil {
		return list.Presets
	}
	planners, err := app.Planners(a.settings)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(planners))
}

// presetArguments gives the presets that a command accepts: only show takes one that was not saved.
func presetArguments(ctx context.Context, a *asked) (all []string) {
	if a.cmd.Name() == "show" {
		return presetNames(ctx, a)
	}
	var list versioned.Presets
	a.get(ctx, PresetsPath, &list)
	for i := range list.Details {
		if d := &list.Details[i]; d.Source == presets.FromSaved {
			all = append(all, d.Name)
		}
	}
	return all
}

func rerankerNames(ctx context.Context, a *asked) []string {
	var list versioned.Presets
	a.get(ctx, PresetsPath, &list)
	if len(list.Rerankers) > 0 || a.client != nil || a.settings == nil {
		return list.Rerankers
	}
	return slices.Sorted(maps.Keys(a.settings.AllRerankers()))
}

func keyNames(ctx context.Context, a *asked) (all []string) {
	var list gateway.KeyList
	a.get(ctx, KeysPath, &list)
	for i := range list.Keys {
		if list.Keys[i].RevokedAt == nil {
			all = append(all, list.Keys[i].Name)
		}
	}
	return all
}

func synonymSets(ctx context.Context, a *asked) []string {
	return append(knowledgeBases(ctx, a), "global")
}

// metricNames gives the metrics at the default depth.
func metricNames(context.Context, *asked) []string {
	all := metric.Families()
	for i := range all {
		all[i] += "@10"
	}
	return all
}
