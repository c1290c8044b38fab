package esquery

// Exists matches documents with an indexed value in the field:
//
//	{"exists": {"field": "vector"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-exists-query.html
type Exists struct {
	Common
	Field string
}

// MarshalJSON implements json.Marshaler.
func (q Exists) MarshalJSON() ([]byte, error) {
	return wrap("exists", struct {
		Field string `json:"field"`
		Common
	}{q.Field, q.Common})
}
