package esquery

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

func (q Terms) writeQuery(w *writer) {
	w.begin("terms")
	q.writeCommon(w)
	w.anys(q.Field, q.Values) // beside boost and _name
	w.end()
}
