package esquery

// Range matches a field with a value between bounds; nil bounds are open:
//
//	{"range": {"ordinal": {"gte": 3, "lt": 7}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-range-query.html
type Range struct {
	Common
	Field            string
	GT, GTE, LT, LTE any // string, float64 or int
}

// MarshalJSON implements json.Marshaler.
func (q Range) MarshalJSON() ([]byte, error) {
	return wrapField("range", q.Field, struct {
		GT  any `json:"gt,omitempty"`
		GTE any `json:"gte,omitempty"`
		LT  any `json:"lt,omitempty"`
		LTE any `json:"lte,omitempty"`
		Common
	}{q.GT, q.GTE, q.LT, q.LTE, q.Common})
}
