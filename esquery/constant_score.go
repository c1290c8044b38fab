package esquery

import "github.com/go-json-experiment/json/jsontext"

// ConstantScore gives every match of its filter the score Boost (1 when nil):
//
//	{"constant_score": {"filter": {"exists": {"field": "vector"}}, "boost": 1}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-constant-score-query.html
type ConstantScore struct {
	Common
	Filter Query
}

// MarshalJSONTo implements json.MarshalerTo.
func (q ConstantScore) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "constant_score", struct {
		Filter Query `json:"filter"`
		Common
	}{q.Filter, q.Common})
}
