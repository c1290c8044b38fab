package esquery

// ScriptFilter matches the documents for which a script gives true:
//
//	{"script": {"script": {"source": "doc['n'].size() > params.n", "params": {"n": 0}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-script-query.html
type ScriptFilter struct {
	Common
	Script Script
}

func (q ScriptFilter) writeQuery(w *writer) {
	w.begin("script")
	q.Script.write(w)
	q.writeCommon(w)
	w.end()
}
