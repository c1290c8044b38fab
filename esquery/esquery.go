// Package esquery builds every body that is sent to Elasticsearch, as typed
// values that marshal to JSON: query clauses, searches, aggregations,
// highlighting, bulk lines. It has one file per clause, does no I/O and knows
// nothing of searches, legs or knowledge bases.
//
// A zero optional member is left out of the JSON, so that Elasticsearch's own
// default holds. Nothing is checked here but what would not be JSON (NaN).
package esquery

import "encoding/json"

// Query is one clause of Elasticsearch's query language.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl.html
type Query interface {
	json.Marshaler
	isQuery()
}

// Common are the members that every clause accepts.
type Common struct {
	// Boost multiplies the clause's score; nil means 1.
	Boost *float64 `json:"boost,omitempty"`
	// Name makes hits list the clause, and its score before any outer boost,
	// in matched_queries.
	Name string `json:"_name,omitempty"`
}

func (Common) isQuery() {}

// named is a JSON object with one member: {"term": …}, {"the_field": …}.
type named[T any] map[string]T

// wrap marshals {"key": value}.
func wrap[T any](key string, value T) ([]byte, error) { return json.Marshal(named[T]{key: value}) }

// wrapField marshals {"key": {"field": value}}, the shape of most leaf clauses.
func wrapField[T any](key, field string, value T) ([]byte, error) {
	return wrap(key, named[T]{field: value})
}
