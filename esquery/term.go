package esquery

import "github.com/go-json-experiment/json/jsontext"

// Term matches a field's exact term:
//
//	{"term": {"kb": {"value": "manuals"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-term-query.html
type Term struct {
	Common
	Field string
	Value any // string, float64, int or bool
}

// MarshalJSONTo implements json.MarshalerTo.
func (q Term) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "term", q.Field, struct {
		Value any `json:"value"`
		Common
	}{q.Value, q.Common})
}
