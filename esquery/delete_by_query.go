package esquery

import "encoding/json"

// DeleteByQuery is the body of a _delete_by_query:
//
//	{"query": {"term": {"document_id": {"value": "d1"}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-delete-by-query.html
type DeleteByQuery struct{ Query Query }

// MarshalJSON implements json.Marshaler.
func (d DeleteByQuery) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Query Query `json:"query"`
	}{d.Query})
}
