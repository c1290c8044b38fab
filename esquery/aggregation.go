package esquery

import "slices"

// Aggregation counts or measures the documents that a search matches.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations.html
type Aggregation interface{ writeAggregation(w *writer) }

// Aggregations are by the name under which their results come back.
type Aggregations map[string]Aggregation

func (w *writer) optAggs(all Aggregations) {
	if len(all) == 0 {
		return
	}
	w.member("aggs").begin()
	names := make([]string, 0, 4) // on the stack, and enough for most searches
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all[name].writeAggregation(w.member(name))
	}
	w.end()
}

// TermsAggregation counts documents per value of a field, most frequent first:
//
//	{"terms": {"field": "document_id", "size": 10}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-terms-aggregation.html
type TermsAggregation struct {
	Field string
	Size  int
	Aggs  Aggregations
}

func (a TermsAggregation) writeAggregation(w *writer) {
	w.begin()
	w.member("terms").begin()
	w.text("field", a.Field)
	w.optInt("size", a.Size)
	w.end()
	w.optAggs(a.Aggs)
	w.end()
}

// FiltersAggregation counts the documents that match each query, in order:
//
//	{"filters": {"filters": [{"term": …}, {"exists": …}]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-filters-aggregation.html
type FiltersAggregation struct {
	Filters []Query
}

func (a FiltersAggregation) writeAggregation(w *writer) {
	w.begin("filters")
	w.queries("filters", a.Filters)
	w.end()
}

// FilterAggregation counts the documents that match a query:
//
//	{"filter": {"exists": {"field": "vector"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-filter-aggregation.html
type FilterAggregation struct {
	Filter Query
}

func (a FilterAggregation) writeAggregation(w *writer) {
	w.begin()
	w.query("filter", a.Filter)
	w.end()
}

// SumAggregation adds up a numeric field, or what a script makes of each document:
//
//	{"sum": {"field": "text_length"}}
//	{"sum": {"script": {"source": "doc['n'].size()", "params": {}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-sum-aggregation.html
type SumAggregation struct {
	Field  string
	Script *Script // nil: of the field
}

func (a SumAggregation) writeAggregation(w *writer) {
	w.begin("sum")
	if a.Script != nil {
		a.Script.write(w)
	} else {
		w.text("field", a.Field)
	}
	w.end()
}

// NumberScript gives the whole number that a keyword field has, 0 where it has none:
//
//	def n = doc[params.field]; return n.size() == 0 ? 0 : Long.parseLong(n.value)
func NumberScript(field string) *Script {
	return &Script{
		Source: "def n = doc[params.field]; return n.size() == 0 ? 0 : Long.parseLong(n.value)",
		Params: Params{Others: []Param{{Name: "field", Value: field}}},
	}
}

// ValueCountAggregation counts the values of a field:
//
//	{"value_count": {"field": "owner"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-valuecount-aggregation.html
type ValueCountAggregation struct {
	Field string
}

func (a ValueCountAggregation) writeAggregation(w *writer) {
	w.begin("value_count")
	w.text("field", a.Field)
	w.end()
}

// MinAggregation gives the smallest value of a numeric field; null where no document has one:
//
//	{"min": {"field": "ordinal"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-min-aggregation.html
type MinAggregation struct {
	Field string
}

func (a MinAggregation) writeAggregation(w *writer) {
	w.begin("min")
	w.text("field", a.Field)
	w.end()
}

// ScoreStatsAggregation gives mean and deviation (avg, std_deviation, of the population) of the scores:
//
//	{"extended_stats": {"script": {"source": "_score", "params": {}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics.html
type ScoreStatsAggregation struct{}

func (ScoreStatsAggregation) writeAggregation(w *writer) {
	w.begin("extended_stats")
	script := Script{Source: "_score"}
	script.write(w)
	w.end()
}

// CardinalityAggregation estimates the number of distinct values, exact up to
// Precision of them:
//
//	{"cardinality": {"field": "document_id", "precision_threshold": 40000}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-cardinality-aggregation.html
type CardinalityAggregation struct {
	Field     string
	Precision int
}

func (a CardinalityAggregation) writeAggregation(w *writer) {
	w.begin("cardinality")
	w.text("field", a.Field)
	w.optInt("precision_threshold", a.Precision)
	w.end()
}

// CompositeAggregation pages through all combinations of values in order:
//
//	{"composite": {"size": 100, "after": {"document_id": "d7", "document_name": null},
//	               "sources": [{"document_id": {"terms": {"field": "document_id"}}},
//	                           {"document_name": {"terms": {"field": "document_name", "missing_bucket": true}}}]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-bucket-composite-aggregation.html
type CompositeAggregation struct {
	Size    int
	Sources []CompositeSource
	After   []any // the last values of the page before, nil for that of documents without; nil: from the start
	Aggs    Aggregations
}

// CompositeSource is a field whose values make combinations, and the name of these.
type CompositeSource struct {
	Field   string
	Missing bool // documents without a value come first, instead of not at all
}

func (a CompositeAggregation) writeAggregation(w *writer) {
	w.begin()
	w.member("composite").begin()
	w.optInt("size", a.Size)
	list(w, "sources", a.Sources, func(w *writer, s CompositeSource) {
		w.begin(s.Field, "terms")
		w.text("field", s.Field)
		if s.Missing {
			w.bool("missing_bucket", true)
		}
		w.end()
	})
	if a.After != nil {
		w.member("after").begin()
		for i, value := range a.After {
			if w.member(a.Sources[i].Field); value == nil {
				w.null()
				continue
			}
			w.anything(value)
		}
		w.end()
	}
	w.end()
	w.optAggs(a.Aggs)
	w.end()
}

// TopHitsAggregation carries a few documents of each bucket:
//
//	{"top_hits": {"size": 1, "_source": false, "docvalue_fields": ["document_name"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-aggregations-metrics-top-hits-aggregation.html
type TopHitsAggregation struct {
	Size           int
	Sort           []Sort // nil means by score
	DocValueFields []string
}

func (a TopHitsAggregation) writeAggregation(w *writer) {
	w.begin("top_hits")
	w.int("size", a.Size)
	w.optSorts(a.Sort)
	w.bool("_source", false)
	w.optTexts("docvalue_fields", a.DocValueFields)
	w.end()
}
