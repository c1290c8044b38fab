// Package filter restricts searches and changes to some chunks.
//
//	condition.go   conditions on fields
//	expression.go  filters as requests have them
//	parse.go       expressions as conditions
//	match.go       matching, which engines have to agree with
//	moment.go      times as fields and conditions have them
package filter

// FieldWrittenAt is the field of the time at which a chunk was written.
const FieldWrittenAt = "written_at"

// Condition is one restriction on a field: a metadata key, or one of
// document_id, document_name, owner, written_at (and category, date, title, url, group in
// knowledge bases of kind qa). Exactly one of In, Range, Part, Exists and AnyOf is set.
type Condition struct {
	Field  string  // with AnyOf, its name in the request
	In     []Value // the field has at least one of these values
	Range  *Range
	Part   *Part
	Exists *bool
	AnyOf  [][]Condition // all conditions of one of these hold
	Not    bool          // the condition must not hold
}

// Range compares numbers with numbers and, by Moments, times with times. Nil bounds are open; between
// bounds of two kinds, or of another kind, lies nothing.
type Range struct{ GT, GTE, LT, LTE *Value }

// Part matches strings of a field that contain a text, byte by byte; other values never match. Elasticsearch
// knows the first 8 KiB of a string.
type Part struct {
	Text string // not empty
	At   Place
}

// Place is where in a string its part is.
type Place string

// Places of a part.
const (
	Anywhere Place = "contains"
	AtStart  Place = "starts_with"
	AtEnd    Place = "ends_with"
)

// Value is a string, float64 or bool as JSON has them; fields may hold several.
type Value struct{ V any }
