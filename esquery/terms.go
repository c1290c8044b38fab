package esquery

import "github.com/hybridge-search/hybridge/lib/smile"

// Terms matches a field that has any of the exact terms, at a constant score:
//
//	{"terms": {"id": ["c1", "c2"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-terms-query.html
type Terms struct {
	Common
	Field  string
	Values []any    // string, float64, int or bool
	Texts  []string // more values
}

func (q Terms) writeQuery(w *writer) {
	w.begin("terms")
	q.writeCommon(w)
	w.member(q.Field).token('[', smile.Array) // beside boost and _name
	for _, v := range q.Values {
		w.value().anything(v)
	}
	for _, text := range q.Texts {
		w.value().quote(text)
	}
	w.token(']', smile.ArrayEnd)
	w.end()
}
