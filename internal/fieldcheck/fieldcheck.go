// Package fieldcheck holds errors to what their readers wrote: the field that an error names is a member of its
// request, by the API's description, or stands in the request itself.
package fieldcheck

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// API is what an OpenAPI document says of requests.
type API struct {
	Operations []*Operation
	Settings   []string // those that an error may name too, as what the gateway lacks
	schemas    map[string]*Schema
	edged      map[*Schema]bool // that Edges gave requests of
}

// Operation is a route.
type Operation struct {
	ID         string      `json:"operationId"`
	Parameters []Parameter `json:"parameters"`
	Body       *struct {
		Content map[string]struct {
			Schema *Schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Method, Path string `json:"-"`

	pattern *regexp.Regexp
}

// Parameter is one of the path or of the query.
type Parameter struct {
	Name   string  `json:"name"`
	In     string  `json:"in"`
	Schema *Schema `json:"schema"`
}

// Schema is what a value may be.
type Schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a name, or a list of them
	Properties map[string]*Schema `json:"properties"`
	Items      *Schema            `json:"items"`
	Values     any                `json:"additionalProperties"` // false, true or a schema
	AnyOf      []*Schema          `json:"anyOf"`
	OneOf      []*Schema          `json:"oneOf"`
	AllOf      []*Schema          `json:"allOf"`
	Enum       []any              `json:"enum"`
	Required   []string           `json:"required"`

	Minimum          *float64 `json:"minimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMinimum *float64 `json:"exclusiveMinimum"`
	MaxLength        *int     `json:"maxLength"`
	MinItems         *int     `json:"minItems"`
	MaxItems         *int     `json:"maxItems"`
}

// Read reads a document.
func Read(t testing.TB, file string) *API {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths      map[string]map[string]*Operation `json:"paths"`
		Components struct {
			Schemas map[string]*Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	api := &API{schemas: document.Components.Schemas, edged: map[*Schema]bool{}}
	parameter := regexp.MustCompile(`\\\{[^/]*\\\}`)
	for path, methods := range document.Paths {
		for method, o := range methods {
			o.Method, o.Path = strings.ToUpper(method), path
			o.pattern = regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			api.Operations = append(api.Operations, o)
		}
	}
	slices.SortFunc(api.Operations, func(a, b *Operation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	return api
}

// Of finds the route of a request; nil: there is none.
func (a *API) Of(method, path string) *Operation {
	var found *Operation
	for _, o := range a.Operations {
		if o.Method != method || !o.pattern.MatchString(path) {
			continue
		}
		if found == nil || strings.Count(o.Path, "{") < strings.Count(found.Path, "{") {
			found = o
		}
	}
	return found
}

// Resolve follows a reference.
func (a *API) Resolve(s *Schema) *Schema {
	for s != nil && s.Ref != "" {
		s = a.schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

var (
	place = regexp.MustCompile(`\[[^\]]*(\]|$)`)
	cut   = "…" // at the end of what is shown of a long name
)

// Names reports whether a field is a parameter or a member of an operation.
func (a *API) Names(o *Operation, field string) bool {
	members := strings.Split(strings.TrimSuffix(place.ReplaceAllString(field, ""), "."), ".")
	for _, p := range o.Parameters {
		if p.Name == members[0] {
			return true
		}
	}
	if o.Body == nil {
		return false
	}
	if field == "body" { // the whole of it
		return true
	}
	if members[0] == "" { // of the body as a list, as [0].id
		members = members[1:]
	}
	for _, media := range o.Body.Content {
		if a.within(media.Schema, members) {
			return true
		}
	}
	return false
}

func (a *API) within(s *Schema, members []string) bool {
	s = a.Resolve(s)
	if s == nil || len(members) == 0 {
		return s != nil
	}
	if s.Items != nil && a.within(s.Items, members) {
		return true
	}
	if next, ok := s.Properties[members[0]]; ok && a.within(next, members[1:]) {
		return true
	}
	switch values := s.Values.(type) {
	case bool:
		if values {
			return true
		}
	case map[string]any: // any name, whose value goes on by its own schema
		return true
	}
	for _, some := range [][]*Schema{s.AnyOf, s.OneOf, s.AllOf} {
		if slices.ContainsFunc(some, func(one *Schema) bool { return a.within(one, members) }) {
			return true
		}
	}
	return len(s.Properties) == 0 && s.Items == nil && s.Type == nil // anything at all
}

// Written reports whether the last name of a field stands in what was sent.
func Written(field string, address *url.URL, body []byte) bool {
	name := strings.TrimSuffix(place.ReplaceAllString(field, ""), cut)
	for ; strings.Contains(name, "."); name = name[strings.IndexByte(name, '.')+1:] {
		if strings.Contains(string(body), name) {
			return true
		}
	}
	name = strings.TrimSuffix(name, cut)
	sent, _ := url.QueryUnescape(address.RawQuery) // what cannot be read has no names
	return name != "" && (strings.Contains(string(body), name) || strings.Contains(sent, name))
}

// others are what other programs' protocols call the knowledge base and the document of the path.
var others = []string{"vector_store_id", "file_id", "indexUid", "dataset_ids"}

// named are the fields that an answer names, wherever in it: those of problem documents, of chunks that failed, and
// what other protocols call param.
func named(answer any) (fields []string) {
	switch v := answer.(type) {
	case []any:
		for _, one := range v {
			fields = append(fields, named(one)...)
		}
	case map[string]any:
		_, tells := v["detail"]
		_, says := v["message"]
		for name, member := range v {
			text, is := member.(string)
			if is && text != "" && (name == "field" && tells || name == "param" && says) {
				fields = append(fields, text)
				continue
			}
			fields = append(fields, named(member)...)
		}
	}
	return fields
}

// Check wants that an answer names nothing but what its request has, or might have.
func (a *API) Check(t testing.TB, request *http.Request, sent, answer []byte) {
	t.Helper()
	var told any
	if json.Unmarshal(answer, &told) != nil {
		return
	}
	o := a.Of(request.Method, request.URL.EscapedPath())
	if o == nil {
		return
	}
	for _, field := range named(told) {
		elsewhere := slices.Contains(others, field) || slices.Contains(a.Settings, field) || request.Header.Get(field) != ""
		if !elsewhere && !a.Names(o, field) && !Written(field, request.URL, sent) {
			t.Errorf("%s: an error names %q, which is no member of the request: %s %s with %.300s: %.300s",
				o.ID, field, request.Method, request.URL.RequestURI(), sent, answer)
		}
	}
}
