package esquery

// Prefix matches terms that begin with a value, at a constant score:
//
//	{"prefix": {"text": {"value": "ref"}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-prefix-query.html
type Prefix struct {
	Common
	Field, Value string
}

func (q Prefix) writeQuery(w *writer) {
	w.begin("prefix", q.Field)
	w.text("value", q.Value)
	q.writeCommon(w)
	w.end()
}
