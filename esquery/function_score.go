package esquery

import "github.com/go-json-experiment/json/jsontext"

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

// MarshalJSONTo implements json.MarshalerTo.
func (q RandomScore) MarshalJSONTo(enc *jsontext.Encoder) error {
	type seeded struct {
		Seed  int64  `json:"seed"`
		Field string `json:"field"`
	}
	return wrap(enc, "function_score", struct {
		Query       Query  `json:"query"`
		RandomScore seeded `json:"random_score"`
		BoostMode   string `json:"boost_mode"`
		Common
	}{q.Query, seeded{q.Seed, q.Field}, "replace", q.Common})
}
