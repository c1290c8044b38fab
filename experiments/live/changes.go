package live

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// changes are members of a search that hold in place of the caller's.
type changes struct {
	names []string // of the members, in order
	of    search.Request
}

// members are the fields of a search by their JSON names: the index of each.
var members = func() map[string][]int {
	all := map[string][]int{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[search.Request]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.Anonymous && name != "" && name != "-" {
			all[name] = field.Index
		}
	}
	return all
}()

// ofCaller are the members that are the question, the page that is wanted of its answer, and who asks. A variant that
// changed them would answer something else.
var ofCaller = []string{
	"query", "queries", "everything", "knowledge_bases", "boosts", "user", "language", "vector", "filter",
	"top_k", "offset", "limit", "facets", "facet_mode", "explain", "cache", "client_id", "session_id", "experiments",
}

// parseChanges reads the request of a variant. Errors name the member, as request.preset.
func parseChanges(text stdjson.RawMessage) (*changes, *fault.Error) {
	c := &changes{}
	if len(text) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(text, &c.of, json.RejectUnknownMembers(true)); err != nil {
		return nil, noSearch(err)
	}
	var named map[string]jsontext.Value
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, noSearch(err)
	}
	c.names = slices.Sorted(maps.Keys(named))
	for _, name := range c.names {
		if slices.Contains(ofCaller, name) {
			field := "request." + name
			return nil, refusedMember(field, fmt.Sprintf("%s is the caller's and not a variant's; it must be left out", field))
		}
	}
	return c, nil
}

func refusedMember(field, detail string) *fault.Error {
	return &fault.Error{Kind: fault.InvalidArgument, Field: field, Detail: detail}
}

// noSearch names the members that do not belong to a search.
func noSearch(err error) *fault.Error {
	field := "request"
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field += strings.ReplaceAll(string(semantic.JSONPointer), "/", ".")
	}
	var own *fault.Error
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return refusedMember(field, fmt.Sprintf("%s is not a member of a search", field))
	case errors.As(err, &own):
		return own.Within("request.")
	default:
		refused := refusedMember(field, fmt.Sprintf("%s is not what a search has there", field))
		refused.Err = err
		return refused
	}
}

// over is a request with the changes.
func (c *changes) over(req search.Request) search.Request {
	to, from := reflect.ValueOf(&req).Elem(), reflect.ValueOf(&c.of).Elem()
	for _, name := range c.names {
		at := members[name]
		to.FieldByIndex(at).Set(from.FieldByIndex(at))
	}
	return req
}
