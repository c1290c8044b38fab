package engine

import "github.com/hybridge-search/hybridge/filter"

type (
	// Condition is filter.Condition.
	Condition = filter.Condition
	// Range is filter.Range.
	Range = filter.Range
	// Part is filter.Part.
	Part = filter.Part
	// Place is filter.Place.
	Place = filter.Place
	// Value is filter.Value.
	Value = filter.Value
	// Moment is filter.Moment.
	Moment = filter.Moment
)

// Places of a part.
const (
	Anywhere = filter.Anywhere
	AtStart  = filter.AtStart
	AtEnd    = filter.AtEnd
)

// MatchesAll and ParseMoment are defined in package filter.
var (
	MatchesAll  = filter.MatchesAll
	ParseMoment = filter.ParseMoment
)
