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

func (q Exists) writeQuery(w *writer) {
	w.begin("exists")
	w.text("field", q.Field)
	q.writeCommon(w)
	w.end()
}
