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

func (q DisMax) writeQuery(w *writer) {
	w.begin("dis_max")
	w.queries("queries", q.Queries)
	q.writeCommon(w)
	w.end()
}
