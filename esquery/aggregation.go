package esquery

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Aggregation counts or measures the documents that a search matches.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations.html
type Aggregation interface {
	json.MarshalerTo
	isAggregation()
}

// Aggregations are by the name under which their results come back.
type Aggregations map[string]Aggregation

type aggregation struct{}

func (aggregation) isAggregation() {}

// TermsAggregation counts documents per value of a field, most frequent first:
//
//	{"terms": {"field": "document_id", "size": 10}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-terms-aggregation.html
type TermsAggregation struct {
	aggregation
	Field string
	Size  int
	Aggs  Aggregations
}

// MarshalJSONTo implements json.MarshalerTo.
func (a TermsAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	type body struct {
		Field string `json:"field"`
		Size  int    `json:"size,omitzero"`
	}
	return json.MarshalEncode(enc, struct {
		Terms body         `json:"terms"`
		Aggs  Aggregations `json:"aggs,omitempty"`
	}{body{a.Field, a.Size}, a.Aggs})
}

// FiltersAggregation counts the documents that match each query, in order:
//
//	{"filters": {"filters": [{"term": …}, {"exists": …}]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-filters-aggregation.html
type FiltersAggregation struct {
	aggregation
	Filters []Query
}

// MarshalJSONTo implements json.MarshalerTo.
func (a FiltersAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "filters", "filters", a.Filters)
}

// FilterAggregation counts the documents that match a query:
//
//	{"filter": {"exists": {"field": "vector"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-filter-aggregation.html
type FilterAggregation struct {
	aggregation
	Filter Query
}

// MarshalJSONTo implements json.MarshalerTo.
func (a FilterAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "filter", a.Filter)
}

// SumAggregation adds up a numeric field:
//
//	{"sum": {"field": "text_length"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-sum-aggregation.html
type SumAggregation struct {
	aggregation
	Field string
}

// MarshalJSONTo implements json.MarshalerTo.
func (a SumAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "sum", "field", a.Field)
}

// CardinalityAggregation estimates the number of distinct values, exact up to
// Precision of them:
//
//	{"cardinality": {"field": "document_id", "precision_threshold": 40000}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-cardinality-aggregation.html
type CardinalityAggregation struct {
	aggregation
	Field     string
	Precision int
}

// MarshalJSONTo implements json.MarshalerTo.
func (a CardinalityAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "cardinality", struct {
		Field     string `json:"field"`
		Precision int    `json:"precision_threshold,omitzero"`
	}{a.Field, a.Precision})
}

// CompositeAggregation pages through all combinations of values in order:
//
//	{"composite": {"size": 100, "sources": [{"document_id": {"terms": {"field": "document_id"}}}],
//	               "after": {"document_id": "d7"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-composite-aggregation.html
type CompositeAggregation struct {
	aggregation
	Size  int
	Field string // the one source, named like the field
	After string // the last value of the page before
	Aggs  Aggregations
}

// MarshalJSONTo implements json.MarshalerTo.
func (a CompositeAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	type body struct {
		Size    int                           `json:"size,omitzero"`
		Sources []named[named[named[string]]] `json:"sources"`
		After   named[string]                 `json:"after,omitempty"`
	}
	b := body{
		Size:    a.Size,
		Sources: []named[named[named[string]]]{{a.Field: {"terms": {"field": a.Field}}}},
	}
	if a.After != "" {
		b.After = named[string]{a.Field: a.After}
	}
	return json.MarshalEncode(enc, struct {
		Composite body         `json:"composite"`
		Aggs      Aggregations `json:"aggs,omitempty"`
	}{b, a.Aggs})
}

// TopHitsAggregation carries a few documents of each bucket:
//
//	{"top_hits": {"size": 1, "_source": false, "docvalue_fields": ["document_name"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-top-hits-aggregation.html
type TopHitsAggregation struct {
	aggregation
	Size           int
	Sort           []Sort
	DocValueFields []string
}

// MarshalJSONTo implements json.MarshalerTo.
func (a TopHitsAggregation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "top_hits", struct {
		Size           int      `json:"size"`
		Sort           []Sort   `json:"sort,omitempty"`
		Source         bool     `json:"_source"`
		DocValueFields []string `json:"docvalue_fields,omitempty"`
	}{a.Size, a.Sort, false, a.DocValueFields})
}
