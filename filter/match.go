package filter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Fields is an object that conditions test, such as a chunk.
type Fields interface {
	// Values gives the values of a field for a condition; nil if there is no such field.
	Values(field string) []Value
}

// Matches reports whether a chunk passes the condition. It is the reference for engines, which
// evaluate conditions in their own ways, and tells a caller which condition excluded a
// chunk.
func (c *Condition) Matches(chunk Fields) bool {
	if c.AnyOf != nil {
		holds := slices.ContainsFunc(c.AnyOf, func(all []Condition) bool { return MatchesAll(all, chunk) })
		return holds != c.Not
	}
	return c.holds(chunk.Values(c.Field)) != c.Not
}

// MatchesAll reports whether a chunk passes all conditions.
func MatchesAll(conditions []Condition, chunk Fields) bool {
	for i := range conditions {
		if !conditions[i].Matches(chunk) {
			return false
		}
	}
	return true
}

func (c *Condition) holds(values []Value) bool {
	if c.Exists != nil {
		return (len(values) > 0) == *c.Exists
	}
	for _, v := range values {
		switch {
		case c.Range != nil && c.Range.holds(v),
			c.Part != nil && c.Part.in(v),
			slices.Contains(c.In, v):
			return true
		}
	}
	return false
}

func (p *Part) in(v Value) bool {
	text, ok := v.V.(string)
	return ok && p.In(text)
}

// In reports whether a string contains the part.
func (p *Part) In(text string) bool {
	switch p.At {
	case AtStart:
		return strings.HasPrefix(text, p.Text)
	case AtEnd:
		return strings.HasSuffix(text, p.Text)
	case Anywhere:
		return strings.Contains(text, p.Text)
	default:
		return false
	}
}

// holds compares numbers with numbers and times with times, in whatever format these are written.
func (r *Range) holds(v Value) bool {
	if *r == (Range{}) {
		return true
	}
	switch x := v.V.(type) {
	case float64:
		return r.holdsNumber(x)
	case string:
		between, ok := r.Moments()
		return ok && between.Holds(x)
	default:
		return false
	}
}

func (r *Range) holdsNumber(x float64) bool {
	for _, bound := range []struct {
		value  *Value
		accept func(order int) bool
	}{
		{r.GT, func(order int) bool { return order > 0 }},
		{r.GTE, func(order int) bool { return order >= 0 }},
		{r.LT, func(order int) bool { return order < 0 }},
		{r.LTE, func(order int) bool { return order <= 0 }},
	} {
		if bound.value == nil {
			continue
		}
		number, ok := bound.value.V.(float64)
		if !ok || !bound.accept(cmp.Compare(x, number)) {
			return false
		}
	}
	return true
}

// Text returns the value as facets show it; false if they do not.
func (v Value) Text() (string, bool) {
	switch x := v.V.(type) {
	case string:
		return x, true
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(x), true
	default:
		return "", false
	}
}
