package esquery

// RandomScore orders its query's matches at random, the same for the same seed
// and the same values of Field:
//
//	{"function_score": {"query": …, "random_score": {"seed": 7, "field": "id"}, "boost_mode": "replace"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-function-score-query.html#function-random
type RandomScore struct {
	Common
	Query Query
	Seed  int64
	Field string // a field with doc values, or _seq_no
}

func (q RandomScore) writeQuery(w *writer) {
	w.begin("function_score")
	w.query("query", q.Query)
	w.member("random_score").begin()
	w.member("seed").integer(q.Seed)
	w.text("field", q.Field)
	w.end()
	w.text("boost_mode", "replace")
	q.writeCommon(w)
	w.end()
}
