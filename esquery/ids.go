package esquery

// IDs matches documents by their _id:
//
//	{"ids": {"values": ["a", "b"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-ids-query.html
type IDs struct {
	Common
	Values []string
}

// MarshalJSON implements json.Marshaler.
func (q IDs) MarshalJSON() ([]byte, error) {
	values := q.Values
	if values == nil {
		values = []string{}
	}
	return wrap("ids", struct {
		Values []string `json:"values"`
		Common
	}{values, q.Common})
}
