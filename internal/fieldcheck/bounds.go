package fieldcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Edge is a request with one value at a bound that its schema states, or beside it.
type Edge struct {
	Request
	Field  string // that has the value, as errors name it
	Value  string // in words
	Beyond bool   // it must be refused, and nothing else of the request
}

// mostBytes is the longest body that is tried: a gateway's limit of JSON.
const mostBytes = 1 << 20

// unlimited are bounds that only say how numbers are kept.
const unlimited = 1e30

// edge is a value at a bound, or beside it.
type edge struct {
	value  any
	words  string
	beyond bool
}

// Edges gives requests to an operation with values at, above and below each bound that the API states of a member of
// its body or of a parameter of its query, but for members whose schema it gave requests of before.
func (a *API) Edges(o *Operation, known map[string]any) []Edge {
	path := o.Path
	for _, p := range o.Parameters {
		if name, is := known[p.Name].(string); is && p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", name)
		}
	}
	body, media := a.body(o, known)
	var all []Edge
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		for _, e := range a.edges(a.Resolve(p.Schema), nil, known) {
			address := path + "?" + p.Name + "=" + url.QueryEscape(fmt.Sprint(e.value))
			all = append(all, Edge{Request{address, body, media}, p.Name, e.words, e.beyond})
		}
	}
	var whole any
	if !strings.Contains(media, "json") || json.Unmarshal([]byte(body), &whole) != nil {
		return all
	}
	for _, m := range a.bounded(o.Body.Content[media].Schema, nil) {
		if a.edged[m.schema] {
			continue
		}
		a.edged[m.schema] = true
		for _, e := range a.edges(m.schema, at(whole, m.places), known) {
			text, err := json.Marshal(with(whole, m.places, e.value))
			if err == nil && len(text) < mostBytes {
				all = append(all, Edge{Request{path, string(text), media}, fieldOf(m.places), e.words, e.beyond})
			}
		}
	}
	return all
}

// at is what a value has at a place.
func at(whole any, places []string) any {
	for _, name := range places {
		switch container := whole.(type) {
		case map[string]any:
			whole = container[name]
		case []any:
			if whole = nil; name == "" && len(container) > 0 {
				whole = container[0]
			}
		default:
			return nil
		}
	}
	return whole
}

// edges are the values at the bounds of a schema. Lists are of what is there, or of examples.
func (a *API) edges(s *Schema, there any, known map[string]any) (all []edge) {
	number := func(value float64, beyond bool) {
		if a.isWhole(s) && math.Abs(value) > 1<<53 {
			return
		}
		all = append(all, edge{json.Number(strconv.FormatFloat(value, 'f', -1, 64)), fmt.Sprint(value), beyond})
	}
	step := func(bound float64) float64 {
		if a.isWhole(s) {
			return 1
		}
		return max(1, math.Abs(bound)) / 1024
	}
	for sign, bound := range map[float64]*float64{-1: s.Minimum, 1: s.Maximum} {
		if bound != nil && math.Abs(*bound) < unlimited {
			number(*bound, false)
			number(*bound+sign*step(*bound), true)
			number(*bound-sign*step(*bound), false)
		}
	}
	if bound := s.ExclusiveMinimum; bound != nil {
		number(*bound, true)
		number(*bound+step(*bound), false)
	}
	if n := s.MaxLength; n != nil && *n < mostBytes {
		all = append(all, edge{strings.Repeat("x", *n), fmt.Sprint(*n, " characters"), false},
			edge{strings.Repeat("x", *n+1), fmt.Sprint(*n+1, " characters"), true})
	}
	list := func(n int, beyond bool) {
		items, some := make([]any, n), at(there, []string{""})
		if some == nil {
			some = a.example(s.Items, known, 1)
		}
		for i := range items {
			items[i] = some
			if text, is := items[i].(string); is {
				items[i] = text + strconv.Itoa(i)
			}
		}
		all = append(all, edge{items, fmt.Sprint(n, " items"), beyond})
	}
	if s.MaxItems != nil {
		list(*s.MaxItems, false)
		list(*s.MaxItems+1, true)
	}
	if s.MinItems != nil && *s.MinItems > 0 {
		list(*s.MinItems, false)
		list(*s.MinItems-1, true)
	}
	return all
}

func (a *API) isWhole(s *Schema) bool {
	kinds, several := s.Type.([]any)
	return s.Type == "integer" || several && len(kinds) > 0 && kinds[0] == "integer"
}

// spot is where a member with bounds is.
type spot struct {
	places []string
	schema *Schema
}

// bounded are the members that have bounds; "" stands for the items of a list.
func (a *API) bounded(s *Schema, at []string) (all []spot) {
	s = a.Resolve(s)
	if s == nil || len(at) > deepest {
		return nil
	}
	if s.hasBounds() && len(at) > 0 {
		all = append(all, spot{at, s})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, a.bounded(s.Properties[name], append(at[:len(at):len(at)], name))...)
	}
	if s.Items != nil {
		all = append(all, a.bounded(s.Items, append(at[:len(at):len(at)], ""))...)
	}
	for _, some := range [][]*Schema{s.AnyOf, s.OneOf, s.AllOf} {
		for _, one := range some {
			all = append(all, a.bounded(one, at)...)
		}
	}
	return all
}

func (s *Schema) hasBounds() bool {
	return s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.MaxLength != nil || s.MaxItems != nil ||
		s.MinItems != nil
}

// fieldOf is how errors name a place.
func fieldOf(places []string) string {
	var field strings.Builder
	for _, place := range places {
		switch {
		case place == "":
			field.WriteString("[0]")
		case field.Len() > 0:
			field.WriteString("." + place)
		default:
			field.WriteString(place)
		}
	}
	return field.String()
}
