package esquery

// And makes Match need all of its tokens; the default is any of them.
const And = "and"

// Match analyses a text with the field's analyzer and matches its tokens:
//
//	{"match": {"text": {"query": "refunds", "operator": "and", "boost": 2}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-query.html
type Match struct {
	Common
	Field              string
	Query              string
	Operator           string // And, or empty
	MinimumShouldMatch string // such as "30%", which rounds down
}

func (q Match) writeQuery(w *writer) {
	w.begin("match", q.Field)
	w.text("query", q.Query)
	w.optText("operator", q.Operator)
	w.optText("minimum_should_match", q.MinimumShouldMatch)
	q.writeCommon(w)
	w.end()
}
