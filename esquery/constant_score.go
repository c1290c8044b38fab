package esquery

// ConstantScore gives every match of its filter the score Boost (1 when nil):
//
//	{"constant_score": {"filter": {"exists": {"field": "vector"}}, "boost": 1}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-constant-score-query.html
type ConstantScore struct {
	Common
	Filter Query
}

func (q ConstantScore) writeQuery(w *writer) {
	w.begin("constant_score")
	w.query("filter", q.Filter)
	q.writeCommon(w)
	w.end()
}
