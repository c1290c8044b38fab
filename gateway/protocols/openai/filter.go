package openai

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// oneOrMore is a text, or several.
type oneOrMore []string

func (oneOrMore) Accepts() (accepted string) { return "a question, or a list of its wordings" }

// UnmarshalJSON reads either.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// Schema implements huma.SchemaProvider.
func (oneOrMore) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A question, or the wordings of one.",
		OneOf:       []*huma.Schema{{Type: huma.TypeString}, r.Schema(reflect.TypeFor[[]string](), true, "")},
	}
}

// openAIFilter is a comparison, or several that are joined.
type openAIFilter struct {
	Type    string          `json:"type" doc:"eq, ne, gt, gte, lt, lte, in or nin; or and, or."`
	Key     string          `json:"key,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Filters []openAIFilter  `json:"filters,omitempty"`
}

// maxFilterDepth is how deep filters may be nested, as those of a search.
const maxFilterDepth = 16

// filter is the search's; at is its place in the body.
func (f *openAIFilter) filter(at string, depth int) (filter.Expression, error) {
	if depth > maxFilterDepth {
		return nil, fault.Invalid(at, "a filter in too many others", "nested at most 16 deep")
	}
	if f.Type == "and" || f.Type == "or" {
		var all []filter.Expression
		for i := range f.Filters {
			one, err := f.Filters[i].filter(fmt.Sprintf("%s.filters[%d]", at, i), depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		if len(all) == 0 {
			return nil, fault.Invalid(at+".filters", "empty", "a list of filters")
		}
		return filter.Join(map[string]string{"and": "all_of", "or": "any_of"}[f.Type], all), nil
	}
	if f.Key == "" {
		return nil, fault.Invalid(at+".key", "", "the name of a field")
	}
	var value any
	if len(f.Value) == 0 || json.Unmarshal(f.Value, &value) != nil || value == nil {
		return nil, fault.Invalid(at+".value", endpoint.Clip(string(f.Value)),
			"a string, a number, true or false, or a list of these")
	}
	switch f.Type {
	case "eq", "in":
		return filter.Checked(filter.Expression{f.Key: filter.JSON(value)}, at+".key", at+".value")
	case "ne", "nin":
		return filter.Checked(filter.Is(f.Key, "not", value), at+".key", at+".value")
	case "gt", "gte", "lt", "lte":
		return filter.Checked(filter.Is(f.Key, f.Type, value), at+".key", at+".value")
	}
	return nil, fault.Invalid(at+".type", f.Type, "eq, ne, gt, gte, lt, lte, in, nin, and, or")
}
