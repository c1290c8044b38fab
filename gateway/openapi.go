package gateway

import (
	_ "embed"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// bodyExamples are bodies that routes accept, by operation; tests send each to its route.
//
//go:embed examples.json
var bodyExamples []byte

// valueBounds are the bounds of values in maps and lists, which tags cannot express.
var valueBounds = map[string][2]float64{
	"weights": {0, 1e9}, "boosts": {0, 100}, "fields": {1, 100}, "relevant": {0, 1e9}, "interval": {-1, 1},
	"thresholds": {0, 1}, "coefficients": {-100, 100},
}

// signed are whole numbers that may be less than 0; all others count something.
var signed = map[string]bool{"distance": true, "moved": true, "code": true, "error_code": true}

// describeTypes registers the types that the document describes in place of others.
func describeTypes(schemas huma.Registry) {
	schemas.RegisterTypeAlias(reflect.TypeFor[scoring.Normalizer](), reflect.TypeFor[normalizer]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Threshold](), reflect.TypeFor[threshold]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Rerank](), reflect.TypeFor[reranking]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Reranking](), reflect.TypeFor[reranking]())
}

func newOpenAPI(version string) *huma.OpenAPI {
	if version == "" {
		version = "dev"
	}
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Hybridge",
			Version: version,
			Description: "Keyword and vector search, fused: a question in, explained hits out. " +
				"Every error is a problem document (RFC 9457) with a stable code. " +
				"Accept-Language chooses the language of its detail and of all other texts for readers, en or zh; " +
				"codes, fields and values stay as they are.",
			License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
			Contact: &huma.Contact{Name: "Hybridge", URL: "https://github.com/hybridge-search/hybridge"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "This gateway."}},
		Tags: []*huma.Tag{
			{Name: "search", Description: "Ask, and ask why."},
			{Name: "knowledge-bases", Description: "Create, list, describe, delete."},
			{Name: "documents", Description: "Write and read documents and their chunks."},
			{Name: "synonyms", Description: "Words that stand for others, of each knowledge base, in versions."},
			{Name: "rules", Description: "What questions pin, hide and filter, of each knowledge base, in versions."},
			{Name: "presets", Description: "Plans of searches that are saved while the gateway runs, in versions."},
			{Name: "evaluation", Description: "Query sets, judgments, and what they say of presets."},
			{Name: "experiments", Description: "Let users decide between ways to search."},
			{Name: "events", Description: "What users did with answers, and what that says."},
			{Name: "mappings", Description: "Compare an index with its schema, and change it while it is in use."},
			{Name: "jobs", Description: "Long work: state, progress, cancel."},
			{Name: "keys", Description: "Make, list, rotate and revoke keys."},
			{Name: "protocols", Description: "What other programs already speak, with their own errors."},
			{Name: "operation", Description: "Health, metrics, this document."},
		},
	}
}

// normalizer describes scoring.Normalizer in the document, with the list of them.
type normalizer string

// Schema implements huma.SchemaProvider.
func (normalizer) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "Of linear: " + scoring.AcceptedNormalizers() + "."}
}

// threshold describes search.Threshold in the document, with its short form.
type threshold struct{}

// thresholdMembers has the fields of search.Threshold without its JSON methods.
type thresholdMembers search.Threshold

// Schema implements huma.SchemaProvider.
func (threshold) Schema(r huma.Registry) *huma.Schema {
	auto := search.AutoThreshold()
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[thresholdMembers](), true, "Threshold"),
		{
			Type: huma.TypeString, Enum: []any{search.Auto},
			Description: fmt.Sprintf("Stands for {answerable: %g, relevance: %g}.", *auto.Answerable, *auto.Relevance),
		},
	}}
}

// reranking describes search.Rerank in the document, with its short form.
type reranking struct{}

// rerankMembers has the fields of search.Rerank without its JSON methods.
type rerankMembers search.Rerank

// Schema implements huma.SchemaProvider.
func (reranking) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[rerankMembers](), true, "Rerank"),
		{Type: huma.TypeString, Description: "The name of a reranker: stands for {name, window: 50, weight: 1}."},
	}}
}
