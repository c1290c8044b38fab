package esquery

// MatchAll matches everything at score 1:
//
//	{"match_all": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchAll struct{ Common }

// MarshalJSON implements json.Marshaler.
func (q MatchAll) MarshalJSON() ([]byte, error) { return wrap("match_all", q.Common) }

// MatchNone matches nothing:
//
//	{"match_none": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchNone struct{ Common }

// MarshalJSON implements json.Marshaler.
func (q MatchNone) MarshalJSON() ([]byte, error) { return wrap("match_none", q.Common) }
