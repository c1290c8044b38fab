package esquery

import "github.com/go-json-experiment/json/jsontext"

// MatchAll matches everything at score 1:
//
//	{"match_all": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchAll struct{ Common }

// MarshalJSONTo implements json.MarshalerTo.
func (q MatchAll) MarshalJSONTo(enc *jsontext.Encoder) error { return wrap(enc, "match_all", q.Common) }

// MatchNone matches nothing:
//
//	{"match_none": {}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-match-all-query.html
type MatchNone struct{ Common }

// MarshalJSONTo implements json.MarshalerTo.
func (q MatchNone) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, "match_none", q.Common)
}
