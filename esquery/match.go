package esquery

import "github.com/go-json-experiment/json/jsontext"

// And makes Match need all of its tokens; the default is any of them.
const And = "and"

// Match analyses a text with the field's analyzer and matches its tokens:
//
//	{"match": {"text": {"query": "refunds", "operator": "and", "boost": 2}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-query.html
type Match struct {
	Common
	Field              string
	Query              string
	Operator           string // And, or empty
	MinimumShouldMatch string // such as "30%", which rounds down
}

// MarshalJSONTo implements json.MarshalerTo.
func (q Match) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "match", q.Field, struct {
		Query              string `json:"query"`
		Operator           string `json:"operator,omitzero"`
		MinimumShouldMatch string `json:"minimum_should_match,omitzero"`
		Common
	}{q.Query, q.Operator, q.MinimumShouldMatch, q.Common})
}
