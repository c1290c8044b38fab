package esquery

import "github.com/go-json-experiment/json/jsontext"

// Exists matches documents with an indexed value in the field:
//
//	{"exists": {"field": "vector"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-exists-query.html
type Exists struct {
	Common
	Field string
}

// MarshalJSONTo implements json.MarshalerTo.
func (q Exists) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "exists", struct {
		Field string `json:"field"`
		Common
	}{q.Field, q.Common})
}
