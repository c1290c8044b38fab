// Package esquery builds every body that is sent to Elasticsearch, as typed
// values that marshal to JSON: query clauses, searches, aggregations,
// highlighting, bulk lines. It has one file per clause, does no I/O and knows
// nothing of searches, legs or knowledge bases.
//
// A zero optional member is left out of the JSON, so that Elasticsearch's own
// default holds. Nothing is checked here but what would not be JSON (NaN).
package esquery

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Query is one clause of Elasticsearch's query language. Marshal writes it, not
// encoding/json: clauses nest deep, and here each writes into the same buffer.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl.html
type Query interface {
	json.MarshalerTo
	isQuery()
}

// Common are the members that every clause accepts.
type Common struct {
	// Boost multiplies the clause's score; nil means 1.
	Boost *float64 `json:"boost,omitzero"`
	// Name makes hits list the clause, and its score before any outer boost,
	// in matched_queries.
	Name string `json:"_name,omitzero"`
}

func (Common) isQuery() {}

// Marshal gives the JSON of a body or a clause. It is the same for equal values;
// what is not UTF-8 becomes U+FFFD, a number that JSON does not have is an error.
func Marshal(v json.MarshalerTo) ([]byte, error) { return json.Marshal(v, style) }

// style writes names as they come: no value here has one twice.
var style = json.JoinOptions(
	json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
	jsontext.EscapeForHTML(true),
)

// named is a JSON object with one member: {"term": …}, {"the_field": …}.
type named[T any] map[string]T

// wrap writes {"key": value}.
func wrap(enc *jsontext.Encoder, key string, value any) error {
	if err := begin(enc, key); err != nil {
		return err
	}
	if err := json.MarshalEncode(enc, value); err != nil {
		return err
	}
	return enc.WriteToken(jsontext.EndObject)
}

// wrapField writes {"key": {"field": value}}, the shape of most leaf clauses.
func wrapField(enc *jsontext.Encoder, key, field string, value any) error {
	if err := begin(enc, key); err != nil {
		return err
	}
	if err := wrap(enc, field, value); err != nil {
		return err
	}
	return enc.WriteToken(jsontext.EndObject)
}

// begin opens an object and names its first member.
func begin(enc *jsontext.Encoder, key string) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	return enc.WriteToken(jsontext.String(key))
}
