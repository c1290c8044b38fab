package esquery

import "github.com/go-json-experiment/json/jsontext"

// Terms matches a field that has any of the exact terms, at a constant score:
//
//	{"terms": {"id": ["c1", "c2"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-terms-query.html
type Terms struct {
	Common
	Field  string
	Values []any // string, float64, int or bool
}

// MarshalJSONTo implements json.MarshalerTo. The field stands beside boost and
// _name.
func (q Terms) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "terms", struct {
		Common
		Field named[[]any] `json:",embed"`
	}{q.Common, named[[]any]{q.Field: q.Values}})
}
