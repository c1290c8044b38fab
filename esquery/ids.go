package esquery

import "github.com/go-json-experiment/json/jsontext"

// IDs matches documents by their _id:
//
//	{"ids": {"values": ["a", "b"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-ids-query.html
type IDs struct {
	Common
	Values []string
}

// MarshalJSONTo implements json.MarshalerTo.
func (q IDs) MarshalJSONTo(enc *jsontext.Encoder) error {
	values := q.Values
	if values == nil {
		values = []string{}
	}
	return wrap(enc, "ids", struct {
		Values []string `json:"values"`
		Common
	}{values, q.Common})
}
