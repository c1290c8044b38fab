package esquery

// Fuzzy matches terms within an edit distance, of 0 to 2, of a value; swapped neighbours
// are one edit:
//
//	{"fuzzy": {"text": {"value": "refnud", "fuzziness": 1, "prefix_length": 1}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-fuzzy-query.html
type Fuzzy struct {
	Common
	Field, Value string
	Distance     int
	PrefixLength int // letters at the beginning that must be the same
}

func (q Fuzzy) writeQuery(w *writer) {
	w.begin("fuzzy", q.Field)
	w.text("value", q.Value)
	w.int("fuzziness", q.Distance)
	w.int("prefix_length", q.PrefixLength)
	q.writeCommon(w)
	w.end()
}
