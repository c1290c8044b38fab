package esquery

import "github.com/go-json-experiment/json/jsontext"

// Range matches a field with a value between bounds; nil bounds are open:
//
//	{"range": {"ordinal": {"gte": 3, "lt": 7}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-range-query.html
type Range struct {
	Common
	Field            string
	GT, GTE, LT, LTE any // string, float64 or int
}

// MarshalJSONTo implements json.MarshalerTo.
func (q Range) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "range", q.Field, struct {
		GT  any `json:"gt,omitzero"`
		GTE any `json:"gte,omitzero"`
		LT  any `json:"lt,omitzero"`
		LTE any `json:"lte,omitzero"`
		Common
	}{q.GT, q.GTE, q.LT, q.LTE, q.Common})
}
