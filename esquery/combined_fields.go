package esquery

import "strconv"

// CombinedFields matches text in several fields as if they were one, by BM25F:
//
//	{"combined_fields": {"query": "refund", "fields": ["text", "title^2"], "operator": "and"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-combined-fields-query.html
type CombinedFields struct {
	Common
	Query  string // all its tokens must match
	Fields []WeightedField
}

// WeightedField is a field that counts Weight times, from 1 on.
type WeightedField struct {
	Name   string
	Weight float64
}

func (q CombinedFields) writeQuery(w *writer) {
	w.begin("combined_fields")
	w.text("query", q.Query)
	list(w, "fields", q.Fields, func(w *writer, f WeightedField) {
		w.quote(f.Name + "^" + strconv.FormatFloat(f.Weight, 'g', -1, 64))
	})
	w.text("operator", "and")
	q.writeCommon(w)
	w.end()
}
