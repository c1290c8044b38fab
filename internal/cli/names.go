package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// The API's paths of named things.
const (
	EvaluationsPath = "/v1/evaluations"
	ExperimentsPath = "/v1/experiments"
	KeysPath        = "/v1/keys"
	ListsPath       = "/v1/judgments"
	PresetsPath     = "/v1/presets"
	QuerySetsPath   = "/v1/query-sets"
	TuningsPath     = "/v1/tunings"
)

// names gives the values that a flag or an argument may have, as far as they are known. The shell
// completes them, and a misspelt value is compared with them.
type names func(context.Context, *asked) []string

// asked has the sources of names.
type asked struct {
	cmd      *cobra.Command
	client   *Client        // nil: no gateway answers
	settings *config.Config // nil: not known
	typed    string         // the typed part of a value
}

// flagNames gives the values of flags, for all commands.
var flagNames = map[string]names{
	"kb":              knowledgeBases,
	"boosts":          assigned(knowledgeBases),
	"preset":          presetNames,
	"presets":         presetNames,
	"against":         presetNames,
	"metrics":         metricNames,
	"query-set":       idsAt(QuerySetsPath),
	"judgments":       idsAt(ListsPath),
	"like":            idsAt(ListsPath),
	"with":            idsAt(ListsPath),
	"source":          among("people", "model", "clicks"),
	"format":          among(exchange.Formats()...),
	"metric":          metricNames,
	"method":          among(tune.Methods()...),
	"decide-by":       among(experiments.Metrics()...),
	"at-most":         assigned(among(experiments.Metrics()...)),
	"increase":        assigned(among(experiments.Metrics()...)),
	"unit":            among(string(experiments.ByUser), string(experiments.BySession)),
	"mode":            among(string(experiments.Split), string(experiments.Interleave)),
	"engine":          engineNames,
	"engines":         engineNames,
	"rerank":          rerankerNames,
	"filter":          filterParts,
	"facet":           fieldNames,
	"facet-mode":      among("conjunctive", "disjunctive"),
	"group-by":        among(search.GroupByDocument),
	"copies":          among(search.CopiesFold, search.CopiesKeep),
	"weights":         assigned(among("text", "vector")),
	"fields":          assigned(among("title", "content", "important_keywords", "questions")),
	"threshold":       among(search.Auto),
	"kind":            among("chunks", "qa"),
	"bm25":            among("lucene", "okapi"),
	"layout":          among("ragflow"),
	"search-analyzer": among("ik_smart", "ik_max_word"),
	"vector-index":    among("int8_hnsw", "hnsw", "int4_hnsw", "bbq_hnsw", "flat", "int8_flat", "half_hnsw", "none"),
	"roles":           among(keys.Search, keys.Write, keys.Manage, keys.Operate),
	langFlag:          among(languageNames...),
	"log-format":      among("text", "json"),
	"log-level":       among("debug", "info", "warn", "error"),
}

// argumentNames are the values of arguments, by how lines of usage call them.
var argumentNames = map[string]names{
	"KB":   knowledgeBases,
	"SET":  synonymSets,
	"NAME": keyNames,

	"PRESET": presetArguments,

	"QUERYSET":   idsAt(QuerySetsPath),
	"LIST":       idsAt(ListsPath),
	"EVALUATION": idsAt(EvaluationsPath),
	"TUNING":     idsAt(TuningsPath),
	"EXPERIMENT": idsAt(ExperimentsPath),
}

// namesOf gives the possible values of an argument; nil: any, such as a new name.
func namesOf(cmd *cobra.Command, a argument) names {
	if cmd.Name() == "create" {
		return nil
	}
	return argumentNames[a.name]
}

// givenName is a name on the command line, and where it is one of.
type givenName struct {
	value string
	names names
}

// namesGiven are the names on a command line.
func namesGiven(cmd *cobra.Command) (given []givenName) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list := flagNames[f.Name]
		if list == nil {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			given = append(given, givenName{value, list})
		}
	})
	args := cmd.Flags().Args()
	for i, a := range argumentsOf(cmd) {
		if list := namesOf(cmd, a); list != nil && i < len(args) {
			given = append(given, givenName{args[i], list})
		}
	}
	return given
}

// among is a set that does not change.
func among(values ...string) names {
	return func(context.Context, *asked) []string { return values }
}

// assigned are names that get a value, as text=0.3.
func assigned(list names) names {
	return func(ctx context.Context, a *asked) []string {
		all := slices.Clone(list(ctx, a))
		for i := range all {
			all[i] += "="
		}
		return all
	}
}

// get asks the gateway, if there is one; missing parts stay empty.
func (a *asked) get(ctx context.Context, path string, into any) {
	if a.client != nil {
		_ = a.client.Get(ctx, path, into) // completion reports no errors
	}
}

// fieldNames gives the fields of a page of chunks, and those that every chunk has.
func fieldNames(ctx context.Context, a *asked) []string {
	found := map[string]bool{"document_id": true, "document_name": true, "owner": true, "written_at": true}
	answer := a.everything(ctx, search.Request{})
	for i := range answer.Hits {
		for name := range answer.Hits[i].Metadata {
			found[name] = true
		}
	}
	delete(found, ingest.MetadataSourceFolder)
	delete(found, ingest.MetadataSourceHash)
	return slices.Sorted(maps.Keys(found))
}

// filterParts are fields, and the values of one that is typed already.
func filterParts(ctx context.Context, a *asked) (all []string) {
	field, _, is := strings.Cut(a.typed, "=")
	if !is || strings.HasSuffix(field, ":") {
		return assigned(fieldNames)(ctx, a)
	}
	answer := a.everything(ctx, search.Request{Facets: []string{field}})
	for _, counted := range answer.Facets[field] {
		all = append(all, field+"="+counted.Value)
	}
	return all
}

// everything asks for all chunks of the searched knowledge bases.
func (a *asked) everything(ctx context.Context, req search.Request) (answer search.Response) {
	if a.client == nil {
		return answer
	}
	limit := 50
	req.Everything, req.Limit = true, &limit
	req.KnowledgeBases, _ = a.cmd.Flags().GetStringSlice("kb") // a command without it searches all
	if len(req.KnowledgeBases) == 0 {
		req.KnowledgeBases = knowledgeBases(ctx, a)
	}
	_ = a.client.Post(ctx, "/v1/search", req, &answer) // as in get
	return answer
}
