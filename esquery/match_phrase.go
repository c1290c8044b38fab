package esquery

// MatchPhrase matches the tokens of a text in order, within Slop positions:
//
//	{"match_phrase": {"text": {"query": "machine learning", "slop": 2, "boost": 1.5}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-query-phrase.html
type MatchPhrase struct {
	Common
	Field string
	Query string
	Slop  int
}

func (q MatchPhrase) writeQuery(w *writer) {
	w.begin("match_phrase", q.Field)
	w.text("query", q.Query)
	w.optInt("slop", q.Slop)
	q.writeCommon(w)
	w.end()
}
