package esquery

import "github.com/go-json-experiment/json/jsontext"

// DisMax scores a document by its best clause:
//
//	{"dis_max": {"queries": [{"term": …}, {"term": …}]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-dis-max-query.html
type DisMax struct {
	Common
	Queries []Query
}

// MarshalJSONTo implements json.MarshalerTo.
func (q DisMax) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "dis_max", struct {
		Queries []Query `json:"queries"`
		Common
	}{q.Queries, q.Common})
}
