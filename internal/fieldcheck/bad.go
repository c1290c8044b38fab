package fieldcheck

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Request is one that an operation may refuse.
type Request struct {
	Address string // path and query
	Body    string
	Type    string // its media type
}

// wrong are values that most members do not take.
var wrong = []string{
	`null`, `true`, `-1`, `0`, `1.5`, `1e300`, `""`, `"no such"`, `"` + strings.Repeat("x", 3000) + `"`,
	`[]`, `["x", "x"]`, `[{}]`, `{}`, `{"x": -1}`,
}

// deepest bounds how many members within members get wrong values.
const deepest = 5

// Bad gives requests to an operation: each parameter and each member of the body, in turn, has values that it may not
// have, while the others have some of their schema's, or what known says of a member of that name; or else the body is
// that which known has for the operation's name.
func (a *API) Bad(o *Operation, known map[string]any) []Request {
	path := o.Path
	for _, p := range o.Parameters {
		if p.In == "path" {
			name, is := known[p.Name].(string)
			if !is {
				name = "none"
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", name)
		}
	}
	body, media := a.body(o, known)
	all := []Request{{path, body, media}}
	for _, p := range o.Parameters {
		for _, value := range []string{"", "-1", "x", strings.Repeat("y", 3000), "\x00"} {
			switch p.In {
			case "query":
				all = append(all, Request{path + "?" + p.Name + "=" + url.QueryEscape(value), body, media})
			case "path":
				other := strings.ReplaceAll(o.Path, "{"+p.Name+"}", url.PathEscape(value))
				for _, q := range o.Parameters {
					name, _ := known[q.Name].(string)
					other = strings.ReplaceAll(other, "{"+q.Name+"}", name)
				}
				if value != "" {
					all = append(all, Request{other, body, media})
				}
			}
		}
	}
	if body == "" {
		return all
	}
	var whole any
	if json.Unmarshal([]byte(body), &whole) != nil {
		return all
	}
	for _, places := range a.members(o.Body.Content[media].Schema, nil) {
		for _, value := range wrong {
			var bad any
			_ = json.Unmarshal([]byte(value), &bad) // it is JSON
			text, err := json.Marshal(with(whole, places, bad))
			if err == nil {
				all = append(all, Request{path, string(text), media})
			}
		}
	}
	return all
}

// body is one that an operation might take.
func (a *API) body(o *Operation, known map[string]any) (body, media string) {
	if o.Body == nil {
		return "", ""
	}
	for media := range o.Body.Content {
		if text, is := known[o.ID].(string); is && media == "application/json" {
			return text, media
		}
	}
	for media := range o.Body.Content {
		if strings.Contains(media, "json") {
			text, err := json.Marshal(a.example(o.Body.Content[media].Schema, known, 0))
			if err == nil {
				return string(text), media
			}
		}
	}
	return "x", "application/octet-stream"
}

// example is a value of a schema, with its required members alone and those that are known.
func (a *API) example(s *Schema, known map[string]any, depth int) any {
	s = a.Resolve(s)
	switch {
	case s == nil || depth > deepest:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Properties != nil:
		object := map[string]any{}
		for name, member := range s.Properties {
			if value, is := known[name]; is && (depth == 0 || slices.Contains(s.Required, name)) {
				object[name] = value
			} else if slices.Contains(s.Required, name) {
				object[name] = a.example(member, known, depth+1)
			}
		}
		return object
	case s.Items != nil:
		return []any{a.example(s.Items, known, depth+1)}
	}
	for _, some := range [][]*Schema{s.OneOf, s.AnyOf} {
		if len(some) > 0 {
			return a.example(some[0], known, depth+1)
		}
	}
	kind, _ := s.Type.(string)
	if kinds, several := s.Type.([]any); several && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	}
	return "x"
}

// members are the places of all members; "" stands for the items of a list.
func (a *API) members(s *Schema, at []string) (places [][]string) {
	s = a.Resolve(s)
	if s == nil || len(at) > deepest {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		here := append(slices.Clone(at), name)
		places = append(places, here)
		places = append(places, a.members(s.Properties[name], here)...)
	}
	if s.Items != nil {
		places = append(places, a.members(s.Items, append(slices.Clone(at), ""))...)
	}
	for _, some := range [][]*Schema{s.AnyOf, s.OneOf, s.AllOf} {
		for _, one := range some {
			places = append(places, a.members(one, at)...)
		}
	}
	return append(places, append(slices.Clone(at), "unknown_member"))
}

// with is a value with another one at a place.
func with(whole any, places []string, value any) any {
	if len(places) == 0 {
		return value
	}
	if places[0] == "" {
		list, _ := whole.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		return append([]any{with(list[0], places[1:], value)}, list[1:]...)
	}
	object, _ := whole.(map[string]any)
	changed := maps.Clone(object)
	if changed == nil {
		changed = map[string]any{}
	}
	changed[places[0]] = with(changed[places[0]], places[1:], value)
	return changed
}
