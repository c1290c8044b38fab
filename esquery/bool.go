package esquery

import "github.com/go-json-experiment/json/jsontext"

// Bool combines clauses:
//
//	{"bool": {"filter": […], "must": […], "should": […], "must_not": […], "minimum_should_match": 1}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-bool-query.html
type Bool struct {
	Common
	Filter  []Query // must match, without score
	Must    []Query // must match, score added
	Should  []Query // may match, score added
	MustNot []Query
	// MinimumShouldMatch is the number of Should clauses that have to match;
	// 0 leaves Elasticsearch's default: 1 without Filter and Must, else 0.
	MinimumShouldMatch int
}

// MarshalJSONTo implements json.MarshalerTo.
func (q Bool) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "bool", struct {
		Filter             []Query `json:"filter,omitempty"`
		Must               []Query `json:"must,omitempty"`
		Should             []Query `json:"should,omitempty"`
		MustNot            []Query `json:"must_not,omitempty"`
		MinimumShouldMatch int     `json:"minimum_should_match,omitzero"`
		Common
	}{q.Filter, q.Must, q.Should, q.MustNot, q.MinimumShouldMatch, q.Common})
}
