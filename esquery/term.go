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

// Word is Term for a string. A text query has dozens, and unlike the Value of a Term
// that of a Word needs no memory of its own.
type Word struct {
	Common
	Field, Value string
}

func (q *Word) writeQuery(w *writer) {
	w.begin("term", q.Field)
	w.text("value", q.Value)
	q.writeCommon(w)
	w.end()
}
