package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// query holds the flags that search and analyze share.
type query struct {
	bases   []string
	preset  string
	engine  string
	topK    int
	filters []string
	weights map[string]string
	explain bool
}

func (q *query) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&q.bases, "kb", nil, "Knowledge base to search; may be given several times (default: all)")
	flags.StringVar(&q.preset, "preset", "", "Named plan (default: the gateway's)")
	flags.StringVar(&q.engine, "engine", "", "Engine to run on")
	flags.IntVar(&q.topK, "top-k", 0, "Hits of the answer (default: the preset's)")
	flags.StringArrayVar(&q.filters, "filter", nil,
		`field=text, or field:=JSON as date:={"gte":"2026-01-01"}; may be given several times, all must hold`)
	flags.StringToStringVar(&q.weights, "weights", nil, "Weight per leg, as text=0.3,vector=0.7")
}

// request returns the search request of the flags and the words of the command line.
func (q *query) request(flags *pflag.FlagSet, words []string) (search.Request, error) {
	req := search.Request{
		Query: strings.Join(words, " "), KnowledgeBases: q.bases, Preset: q.preset, Engine: q.engine,
		Explain: q.explain,
	}
	if flags.Changed("top-k") {
		req.TopK = &q.topK
	}
	weights, err := parseWeights(q.weights)
	if err != nil {
		return req, err
	}
	req.Weights = weights
	req.Filter, err = parseFilters(q.filters)
	return req, err
}

func parseWeights(given map[string]string) (map[string]float64, error) {
	if len(given) == 0 {
		return nil, nil
	}
	weights := make(map[string]float64, len(given))
	for _, leg := range slices.Sorted(maps.Keys(given)) {
		weight, err := strconv.ParseFloat(given[leg], 64)
		if err != nil || weight != weight || weight > 1e300 || weight < 0 {
			return nil, fault.Invalid("--weights "+leg, given[leg], "a finite number >= 0")
		}
		weights[leg] = weight
	}
	return weights, nil
}

// parseFilters reads field=text and field:=JSON.
func parseFilters(given []string) (search.Filter, error) {
	if len(given) == 0 {
		return nil, nil
	}
	filter := search.Filter{}
	for _, text := range given {
		field, value, found := strings.Cut(text, "=")
		if !found || strings.TrimSuffix(field, ":") == "" {
			return nil, fault.Invalid("--filter", text, "field=text or field:=JSON")
		}
		field, isJSON := strings.CutSuffix(field, ":")
		raw := json.RawMessage(value)
		if !isJSON {
			raw, _ = json.Marshal(value) // a string always encodes
		}
		if !json.Valid(raw) {
			return nil, fault.Invalid("--filter "+field, value, "JSON; field=text takes the text as it is")
		}
		if filter[field] != nil {
			return nil, fault.Invalid("--filter", field, "given once; "+field+`:=["a","b"] allows several values`)
		}
		filter[field] = raw
	}
	return filter, nil
}
