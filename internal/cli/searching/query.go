package searching

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/cli"
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
	boosts  map[string]string
	copies  string

	also      []string
	signals   []string
	diversity float64
	rerank    string
	parent    bool

	auto                  bool
	relevance, answerable float64
	thresholdText         string

	facets             []string
	facetMode, groupBy string
}

func (q *query) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&q.bases, "kb", nil, "Knowledge base to search; may be given several times (default: all)")
	flags.StringVar(&q.preset, "preset", "", "Preset (default: the gateway's)")
	flags.StringVar(&q.engine, "engine", "", "Engine to run on")
	flags.IntVar(&q.topK, "top-k", 0, "Number of hits (default: the preset's)")
	flags.StringArrayVar(&q.filters, "filter", nil,
		`field=text, or field:=JSON as date:={"gte":"2026-01-01"} or any_of:=[{"lang":"en"},{"year":2026}]; `+
			`may be given several times, all must hold`)
	flags.StringToStringVar(&q.weights, "weights", nil, "Weight of each leg, such as text=0.3,vector=0.7")
}

// addSeveral adds the flags about several knowledge bases in one answer.
func (q *query) addSeveral(flags *pflag.FlagSet) {
	flags.StringToStringVar(&q.boosts, "boosts", nil, "Factor for the scores of a knowledge base, such as docs=1.5")
	flags.StringVar(&q.copies, "copies", "",
		"fold or keep near-duplicates (default: fold those of different knowledge bases)")
}

// addRanking adds the flags that change the parts of a score, and the order of hits.
func (q *query) addRanking(flags *pflag.FlagSet) {
	flags.StringArrayVar(&q.also, "also", nil, "Another phrasing of the question; may be given up to 8 times")
	flags.StringArrayVar(&q.signals, "signal", nil, `Signal from a field, in JSON, such as `+
		`'{"recency":{"field":"date","half_life":"90d"},"weight":0.2}'; may be given several times`)
	flags.Float64Var(&q.diversity, "diversity", 0, "How much hits must differ from each other, 0 to 1")
	flags.BoolVar(&q.parent, "parent", false, "Return the section around each chunk")
	flags.StringVar(&q.rerank, "rerank", "", "Configured reranker for the best candidates")
}

// rank applies those flags.
func (q *query) rank(flags *pflag.FlagSet, req *search.Request) error {
	req.Queries = q.also
	if q.parent {
		req.Return = search.ReturnParent
	}
	for _, text := range q.signals {
		var s search.Signal
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fault.Invalid("--signal", text, `JSON, as {"recency":{"field":"date","half_life":"90d"},"weight":0.2}`)
		}
		req.Signals = append(req.Signals, s)
	}
	if flags.Changed("diversity") {
		req.Diversity = &q.diversity
	}
	if q.rerank != "" {
		req.Rerank = new(search.Rerank)
		return req.Rerank.UnmarshalText([]byte(q.rerank))
	}
	return nil
}

// addCounts adds the flags that count and gather the hits by their fields.
func (q *query) addCounts(flags *pflag.FlagSet) {
	flags.StringSliceVar(&q.facets, "facet", nil, "Count the values of a field; may be given several times")
	flags.StringVar(&q.facetMode, "facet-mode", "",
		"disjunctive: count each field without its own --filter (default: conjunctive)")
	flags.StringVar(&q.groupBy, "group-by", "", "document_id: only the best chunk of each document")
}

// addThresholds adds the flags that exclude irrelevant hits. The longer names were the first.
func (q *query) addThresholds(flags *pflag.FlagSet) {
	auto := search.AutoThreshold()
	flags.BoolVar(&q.auto, "auto", false, fmt.Sprintf(
		"Omit what is not relevant: --answerable %g --relevance %g", *auto.Answerable, *auto.Relevance))
	flags.StringVar(&q.thresholdText, "threshold", "", "Minimum score of a hit, 0 to 1; or auto, which is --auto")
	for _, name := range []string{"relevance", "min-relevance"} {
		flags.Float64Var(&q.relevance, name, 0, "Minimum relevance of a hit, 0 to 1")
	}
	for _, name := range []string{"answerable", "min-answerable"} {
		flags.Float64Var(&q.answerable, name, 0,
			"Minimum probability, 0 to 1, that the hits answer the question; below it there are no hits")
	}
	_ = flags.MarkHidden("min-relevance") // fails only for a flag that does not exist
	_ = flags.MarkHidden("min-answerable")
}

// threshold builds the threshold from the flags; an explicit one overrides --auto.
func (q *query) threshold(flags *pflag.FlagSet) (t search.Threshold, err error) {
	if q.auto || q.thresholdText == search.Auto {
		t = search.AutoThreshold()
	}
	if q.thresholdText != "" && q.thresholdText != search.Auto {
		score, err := strconv.ParseFloat(q.thresholdText, 64)
		if err != nil || !(score >= 0 && score <= 1) {
			return t, fault.Invalid("--threshold", q.thresholdText, "0 to 1, or auto")
		}
		t.Score = &score
	}
	if flags.Changed("relevance") || flags.Changed("min-relevance") {
		t.Relevance = &q.relevance
	}
	if flags.Changed("answerable") || flags.Changed("min-answerable") {
		t.Answerable = &q.answerable
	}
	return t, nil
}

// request returns the search request of the flags and the words of the command line.
func (q *query) request(flags *pflag.FlagSet, words []string) (search.Request, error) {
	req := search.Request{
		Query: strings.Join(words, " "), KnowledgeBases: q.bases, Preset: q.preset, Engine: q.engine,
		Explain: q.explain, Copies: q.copies, Facets: q.facets, FacetMode: q.facetMode,
	}
	var err error
	if req.Threshold, err = q.threshold(flags); err != nil {
		return req, err
	}
	if flags.Changed("top-k") {
		req.TopK = &q.topK
	}
	if q.groupBy != "" {
		req.GroupBy = &q.groupBy
	}
	if req.Weights, err = cli.ParseNumbers("--weights", q.weights); err != nil {
		return req, err
	}
	if req.Boosts, err = cli.ParseNumbers("--boosts", q.boosts); err != nil {
		return req, err
	}
	if err := q.rank(flags, &req); err != nil {
		return req, err
	}
	req.Filter, err = parseFilters(q.filters)
	return req, err
}

// parseFilters reads field=text and field:=JSON.
func parseFilters(given []string) (filter.Expression, error) {
	if len(given) == 0 {
		return nil, nil
	}
	filter := filter.Expression{}
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
