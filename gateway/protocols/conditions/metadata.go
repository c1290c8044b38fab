// Package conditions makes filters of the conditions of other programs.
//
//	metadata.go    conditions as Dify and RAGFlow write them
//	expression.go  how the filters of all protocols are put together
package conditions

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

// MetadataCondition is one condition as Dify and RAGFlow write it.
type MetadataCondition struct {
	Name     fieldNames      `json:"name"`
	Operator string          `json:"comparison_operator" doc:"contains, not contains, start with, end with, is, is not, in, not in, empty, not empty, =, ≠, >, <, ≥, ≤, before or after."`
	Value    json.RawMessage `json:"value,omitempty" doc:"A string, a number or a list of these; a condition whose value is null is left out."`
}

// fieldNames are the fields of a condition, one of which has to pass.
type fieldNames []string

func (fieldNames) Accepts() (accepted string) { return "the name of a field, or a list of names" }

// UnmarshalJSON reads a name, or a list of names.
func (n *fieldNames) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		*n = fieldNames{name}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(n))
}

// Schema implements huma.SchemaProvider.
func (fieldNames) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A field, or several of which one has to pass.",
		OneOf:       []*huma.Schema{{Type: huma.TypeString}, r.Schema(reflect.TypeFor[[]string](), true, "")},
	}
}

// Filter converts conditions, which logic joins by and or or.
func Filter(member, logic string, conditions []MetadataCondition) (search.Filter, error) {
	var filters []search.Filter
	for i := range conditions {
		c := &conditions[i]
		at := fmt.Sprintf("metadata_condition.conditions[%d]", i)
		if len(c.Name) == 0 {
			return nil, fault.Invalid(at+".name", "", c.Name.Accepts())
		}
		var either []search.Filter
		for _, name := range c.Name {
			filter, err := c.on(name, at)
			if filter != nil && err == nil {
				filter, err = Sound(filter, at+".name", at+".value")
				either = append(either, filter)
			}
			if err != nil {
				return nil, err
			}
		}
		if either != nil {
			filters = append(filters, Join("any_of", either))
		}
	}
	if filters == nil {
		return nil, nil
	}
	switch strings.ToLower(logic) {
	case "", "and":
		return Join("all_of", filters), nil
	case "or":
		return Join("any_of", filters), nil
	default:
		return nil, fault.Invalid("metadata_condition."+member, logic, `"and" or "or"`)
	}
}

// on is the condition on one field; nil where it has no value.
func (c *MetadataCondition) on(field, at string) (search.Filter, error) {
	switch c.Operator {
	case "empty":
		return Join("any_of", []search.Filter{Is(field, "exists", false), {field: JSON([]any{""})}}), nil
	case "not empty":
		return search.Filter{field: JSON(map[string]any{"exists": true, "not": ""})}, nil
	}
	values, err := c.values(at)
	if len(values) == 0 || err != nil {
		return nil, err
	}
	first := values[0]
	switch c.Operator {
	case "contains":
		return Is(field, "contains", fmt.Sprint(first)), nil
	case "not contains":
		return search.Filter{"not": JSON(Is(field, "contains", fmt.Sprint(first)))}, nil
	case "start with":
		return Is(field, "starts_with", fmt.Sprint(first)), nil
	case "end with":
		return Is(field, "ends_with", fmt.Sprint(first)), nil
	case "is", "=", "==", "in":
		return search.Filter{field: JSON(readings(values))}, nil
	case "is not", "≠", "!=", "not in":
		return Is(field, "not", readings(values)), nil
	case ">", "<", "≥", "≤", ">=", "<=":
		if field != engine.FieldWrittenAt { // of which 2026 is a year
			first = numberOf(first)
		}
		return Is(field, bounds[c.Operator], first), nil
	case "before", "after":
		return inTime(field, bounds[c.Operator], first), nil
	}
	return nil, fault.Invalid(at+".comparison_operator", c.Operator,
		"contains, not contains, start with, end with, is, is not, in, not in, "+
			"empty, not empty, =, ≠, >, <, ≥, ≤, before or after")
}

var bounds = map[string]string{
	">": "gt", "<": "lt", "≥": "gte", "≤": "lte", ">=": "gte", "<=": "lte", "before": "lt", "after": "gt",
}

// values gives the operands of the condition; for in and not in, a text is a list with commas.
func (c *MetadataCondition) values(at string) ([]any, error) {
	var value any
	if len(c.Value) > 0 && json.Unmarshal(c.Value, &value) != nil {
		return nil, c.wrongValue(at)
	}
	if written, ok := value.(string); ok && (c.Operator == "in" || c.Operator == "not in") {
		var list []any
		for part := range strings.SplitSeq(written, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list, nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, item := range list {
		switch item.(type) {
		case nil:
			return nil, nil
		case string, float64, bool:
		default:
			return nil, c.wrongValue(at)
		}
	}
	return list, nil
}

func (c *MetadataCondition) wrongValue(at string) error {
	return fault.Invalid(at+".value", endpoint.Clip(string(c.Value)),
		"a string, a number, true or false, or a list of these")
}

// readings gives values as texts and, if a text is a number, as numbers too: a value from
// a form is a text, whatever its type in the metadata.
func readings(values []any) []any {
	var all []any
	for _, v := range values {
		all = append(all, v)
		switch v := v.(type) {
		case string:
			if n, isNumber := numberOf(v).(float64); isNumber {
				all = append(all, n)
			}
		case float64:
			all = append(all, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return all
}

// numberOf is a number where the value is or reads as one, and the text otherwise.
func numberOf(value any) any {
	written := strings.TrimSpace(fmt.Sprint(value))
	if n, err := strconv.ParseFloat(written, 64); err == nil && n-n == 0 { // neither infinite nor not a number
		return n
	}
	return fmt.Sprint(value)
}

// inTime compares with a moment, which metadata may have as a text of ISO 8601 or as seconds since 1970, and
// written_at has as the first.
func inTime(field, bound string, value any) search.Filter {
	written, _ := value.(string)
	moment, isTime := filter.ParseMoment(written)
	number := moment.From
	operator := bound
	switch seconds, ok := numberOf(value).(float64); {
	case isTime:
		if bound == "gt" && moment.Below-moment.From > 1 { // behind a day is from its end on
			operator, number = "gte", moment.Below
		}
	case ok && math.Abs(seconds) < 1e11: // of years with four digits
		number = int64(math.Floor(seconds * 1e6))
		written = time.UnixMicro(number).UTC().Format(time.RFC3339Nano)
	default:
		return Is(field, bound, value)
	}
	asText := Is(field, bound, written)
	if field == engine.FieldWrittenAt {
		return asText
	}
	return Join("any_of", []search.Filter{Is(field, operator, float64(number)/1e6), asText})
}
