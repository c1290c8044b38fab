// Package conditions makes filters of conditions as Dify and RAGFlow write them.
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
func Filter(member, logic string, conditions []MetadataCondition) (filter.Expression, error) {
	var filters []filter.Expression
	for i := range conditions {
		c := &conditions[i]
		at := fmt.Sprintf("metadata_condition.conditions[%d]", i)
		if len(c.Name) == 0 {
			return nil, fault.Invalid(at+".name", "", c.Name.Accepts())
		}
		var either []filter.Expression
		for _, name := range c.Name {
			made, err := c.on(name, at)
			if made != nil && err == nil {
				made, err = filter.Checked(made, at+".name", at+".value")
				either = append(either, made)
			}
			if err != nil {
				return nil, err
			}
		}
		if either != nil {
			filters = append(filters, filter.Join("any_of", either))
		}
	}
	if filters == nil {
		return nil, nil
	}
	switch strings.ToLower(logic) {
	case "", "and":
		return filter.Join("all_of", filters), nil
	case "or":
		return filter.Join("any_of", filters), nil
	default:
		return nil, fault.Invalid("metadata_condition."+member, logic, `"and" or "or"`)
	}
}

// on is the condition on one field; nil where it has no value.
func (c *MetadataCondition) on(field, at string) (filter.Expression, error) {
	switch c.Operator {
	case "empty":
		empty := filter.Expression{field: filter.JSON([]any{""})}
		return filter.Join("any_of", []filter.Expression{filter.Is(field, "exists", false), empty}), nil
	case "not empty":
		return filter.Expression{field: filter.JSON(map[string]any{"exists": true, "not": ""})}, nil
	}
	values, err := c.values(at)
	if len(values) == 0 || err != nil {
		return nil, err
	}
	first := values[0]
	switch c.Operator {
	case "contains":
		return filter.Is(field, "contains", fmt.Sprint(first)), nil
	case "not contains":
		return filter.Expression{"not": filter.JSON(filter.Is(field, "contains", fmt.Sprint(first)))}, nil
	case "start with":
		return filter.Is(field, "starts_with", fmt.Sprint(first)), nil
	case "end with":
		return filter.Is(field, "ends_with", fmt.Sprint(first)), nil
	case "is", "=", "==", "in":
		return filter.Expression{field: filter.JSON(readings(values))}, nil
	case "is not", "≠", "!=", "not in":
		return filter.Is(field, "not", readings(values)), nil
	case ">", "<", "≥", "≤", ">=", "<=":
		if field != engine.FieldWrittenAt { // of which 2026 is a year
			first = numberOf(first)
		}
		return filter.Is(field, bounds[c.Operator], first), nil
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
func inTime(field, bound string, value any) filter.Expression {
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
		return filter.Is(field, bound, value)
	}
	asText := filter.Is(field, bound, written)
	if field == engine.FieldWrittenAt {
		return asText
	}
	return filter.Join("any_of", []filter.Expression{filter.Is(field, operator, float64(number)/1e6), asText})
}
