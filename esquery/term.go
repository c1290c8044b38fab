package esquery

// Term matches a field's exact term:
//
//	{"term": {"kb": {"value": "manuals"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-term-query.html
type Term struct {
	Common
	Field string
	Value any // string, float64, int or bool
}

func (q Term) writeQuery(w *writer) {
	w.begin("term", q.Field)
	w.any("value", q.Value)
	q.writeCommon(w)
	w.end()
}
