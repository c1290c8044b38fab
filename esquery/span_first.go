package esquery

// SpanFirst matches a field that has one of the exact terms among its first tokens:
//
//	{"span_first": {"match": {"span_or": {"clauses": [{"span_term": {"text": "refund"}}]}}, "end": 4}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-span-first-query.html
type SpanFirst struct {
	Common
	Field string
	Terms []string
	End   int
}

func (q SpanFirst) writeQuery(w *writer) {
	w.begin("span_first")
	w.member("match").begin("span_or")
	list(w, "clauses", q.Terms, func(w *writer, term string) {
		w.begin("span_term")
		w.text(q.Field, term)
		w.end()
	})
	w.end()
	w.int("end", q.End)
	q.writeCommon(w)
	w.end()
}
