package esquery

// MatchAll matches everything at score 1:
//
//	{"match_all": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchAll struct{ Common }

func (q MatchAll) writeQuery(w *writer) {
	w.begin("match_all")
	q.writeCommon(w)
	w.end()
}

// MatchNone matches nothing:
//
//	{"match_none": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchNone struct{ Common }

func (q MatchNone) writeQuery(w *writer) {
	w.begin("match_none")
	q.writeCommon(w)
	w.end()
}
