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

func (q IDs) writeQuery(w *writer) {
	w.begin("ids")
	w.texts("values", q.Values)
	q.writeCommon(w)
	w.end()
}
