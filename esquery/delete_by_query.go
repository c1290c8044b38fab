package esquery

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DeleteByQuery is the body of a _delete_by_query:
//
//	{"query": {"term": {"document_id": {"value": "d1"}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-delete-by-query.html
type DeleteByQuery struct{ Query Query }

// MarshalJSONTo implements json.MarshalerTo.
func (d DeleteByQuery) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, struct {
		Query Query `json:"query"`
	}{d.Query})
}
