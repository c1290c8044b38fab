package esquery

// DisMax scores a document by its best clause:
//
//	{"dis_max": {"queries": [{"term": …}, {"term": …}]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-dis-max-query.html
type DisMax struct {
	Common
	Queries []Query
}

// MarshalJSON implements json.Marshaler.
func (q DisMax) MarshalJSON() ([]byte, error) {
	return wrap("dis_max", struct {
		Queries []Query `json:"queries"`
		Common
	}{q.Queries, q.Common})
}
