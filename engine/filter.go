package engine

import "github.com/hybridge-search/hybridge/filter"

// Filters as engines take them.
type (
	Condition = filter.Condition
	Range     = filter.Range
	Part      = filter.Part
	Place     = filter.Place
	Value     = filter.Value
	Moment    = filter.Moment
)

// Places of a part.
const (
	Anywhere = filter.Anywhere
	AtStart  = filter.AtStart
	AtEnd    = filter.AtEnd
)

// What package search still calls here.
var (
	MatchesAll  = filter.MatchesAll
	ParseMoment = filter.ParseMoment
)
