package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/presets"
)

// members name the lists in answers of the API.
var members = map[string]string{
	"/v1/knowledge-bases": "knowledge_bases",
	EvaluationsPath:       "evaluations",
	ExperimentsPath:       "experiments",
	ListsPath:             "judgment_lists",
	QuerySetsPath:         "query_sets",
	TuningsPath:           "tunings",
}

// listed asks for what the API lists at a path.
func listed[T any](ctx context.Context, c *Client, path string) (all []T, err error) {
	var answer map[string]json.RawMessage
	if err := c.Get(ctx, path, &answer); err != nil {
		return nil, err
	}
	return all, c.Decode(answer[members[path]], &all)
}

// List makes a command print what the API lists at a path, with a row for each.
func List[T any](p *Program, cmd *cobra.Command, path, columns string, row func(*T) string) *cobra.Command {
	asJSON := AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *Client, _ []string) error {
		all, err := listed[T](ctx, c, path)
		if err != nil {
			return err
		}
		if *asJSON {
			return PrintJSON(p.Stdout, all)
		}
		table := NewTable(p.Stdout)
		table.Line("%s", columns)
		for i := range all {
			table.Line("%s", row(&all[i]))
		}
		return table.Flush()
	})
}

// idsAt are the ids of what the API lists at a path.
func idsAt(path string) names {
	return func(ctx context.Context, a *asked) (ids []string) {
		if a.client == nil {
			return nil
		}
		all, _ := listed[struct{ ID string }](ctx, a.client, path) // completion reports no errors
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		return slices.Clip(ids)
	}
}

// knowledgeBases are the ids of the knowledge bases.
func knowledgeBases(ctx context.Context, a *asked) []string {
	return idsAt("/v1/knowledge-bases")(ctx, a)
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
