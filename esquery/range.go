package esquery

// Range matches a field with a value between bounds; nil bounds are open:
//
//	{"range": {"ordinal": {"gte": 3, "lt": 7}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-range-query.html
type Range struct {
	Common
	Field            string
	GT, GTE, LT, LTE any    // string, float64 or int
	Format           string // of bounds that are dates; empty: as the field has them
}

func (q Range) writeQuery(w *writer) {
	w.begin("range", q.Field)
	w.optAny("gt", q.GT)
	w.optAny("gte", q.GTE)
	w.optAny("lt", q.LT)
	w.optAny("lte", q.LTE)
	w.optText("format", q.Format)
	q.writeCommon(w)
	w.end()
}
