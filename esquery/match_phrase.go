package esquery

import "github.com/go-json-experiment/json/jsontext"

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

// MarshalJSONTo implements json.MarshalerTo.
func (q MatchPhrase) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrapField(enc, "match_phrase", q.Field, struct {
		Query string `json:"query"`
		Slop  int    `json:"slop,omitzero"`
		Common
	}{q.Query, q.Slop, q.Common})
}
