package esquery

// DeleteByQuery is the body of a _delete_by_query:
//
//	{"query": {"term": {"document_id": {"value": "d1"}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-delete-by-query.html
type DeleteByQuery struct{ Query Query }

func (d DeleteByQuery) writeBody(w *writer) {
	w.begin()
	w.query("query", d.Query)
	w.end()
}
