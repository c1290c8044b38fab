package filter

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits on an expression.
const (
	MaxValues    = 1_000
	maxFields    = 32 // of the whole tree
	maxDepth     = 8
	maxNameBytes = 256
)

const conditionShape = "a string, number or boolean, a non-empty list of these, " +
	"or an object with gt, gte, lt, lte, contains, starts_with, ends_with, not or exists"

// The names that join filters, beside the names of fields.
const (
	anyOf    = "any_of" // a list of filters, one of which must pass
	allOf    = "all_of" // a list of filters, all of which must pass
	negation = "not"    // a filter that must not pass
)

// The accepted values of joins.
const (
	listShape = "a non-empty list of filters, or what a field of that name must be"
	notShape  = "a filter, or what a field of that name must be"
)

// Parse turns an expression into conditions, in the order of the field names. A field that no chunk has
// matches nothing and is no error.
func Parse(expression Expression) ([]Condition, error) {
	p := parser{}
	return p.parse(expression, 1)
}

// parser counts the fields of an expression.
type parser struct{ fields int }

func (p *parser) parse(expression Expression, depth int) ([]Condition, error) {
	if depth > maxDepth {
		return nil, fault.Invalid("filter", "deeper", "any_of, all_of and not at most 8 deep")
	}
	if p.fields += len(expression); p.fields > maxFields {
		return nil, fault.Invalid("filter", p.fields, "at most 32 fields")
	}
	var conditions []Condition
	for _, name := range slices.Sorted(maps.Keys(expression)) {
		parsed, err := p.member(name, expression[name], depth)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, parsed...)
	}
	return conditions, nil
}

// member reads a field with its condition, or a join. A field may have the name of a join:
// lists of objects and objects of fields mean nothing there.
func (p *parser) member(name string, raw json.RawMessage, depth int) ([]Condition, error) {
	switch name {
	case anyOf, allOf:
		if filters, ok := listIn(raw); ok {
			return p.join(name, filters, depth)
		}
	case negation:
		if negated, ok := objectIn(raw); ok {
			parsed, err := p.parse(negated, depth+1)
			if err != nil {
				return nil, err
			}
			return []Condition{{Field: name, AnyOf: [][]Condition{parsed}, Not: true}}, nil
		}
	}
	field, ok := FieldName(name)
	if !ok {
		return nil, fault.Invalid("filter", name, "a field name of 1 to 256 bytes")
	}
	conditions, err := parseCondition(field, raw)
	switch {
	case err != nil && (name == anyOf || name == allOf):
		return nil, fault.Invalid("filter."+name, string(raw), listShape)
	case err != nil && name == negation:
		return nil, fault.Invalid("filter."+name, string(raw), notShape)
	}
	return conditions, err
}

func (p *parser) join(name string, filters []Expression, depth int) ([]Condition, error) {
	var lists [][]Condition
	var all []Condition
	for _, one := range filters {
		parsed, err := p.parse(one, depth+1)
		if err != nil {
			return nil, err
		}
		if len(parsed) == 0 {
			return nil, fault.Invalid("filter."+name, "{}", "filters with at least one field each")
		}
		lists, all = append(lists, parsed), append(all, parsed...)
	}
	if name == allOf {
		return all, nil
	}
	return []Condition{{Field: name, AnyOf: lists}}, nil
}

// listIn reads a list of filters.
func listIn(raw json.RawMessage) (filters []Expression, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &filters) != nil || len(filters) == 0 {
		return nil, false
	}
	return filters, !slices.ContainsFunc(filters, func(f Expression) bool { return f == nil })
}

// objectIn reads a filter; an object with nothing but operators is a condition on a field.
func objectIn(raw json.RawMessage) (object Expression, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &object) != nil || len(object) == 0 {
		return nil, false
	}
	for name, value := range object {
		nested := bytes.HasPrefix(bytes.TrimSpace(value), []byte("{"))
		if !slices.Contains(operatorNames, name) || nested {
			return object, true
		}
	}
	return nil, false
}

// operatorNames are the members of operators.
var operatorNames = []string{"gt", "gte", "lt", "lte", "contains", "starts_with", "ends_with", "not", "exists"}

// FieldName returns the field of a name, which may begin with "metadata."; ok is false if no field has such a
// name.
func FieldName(name string) (field string, ok bool) {
	field = strings.TrimPrefix(name, "metadata.")
	return field, field != "" && len(field) <= maxNameBytes && utf8.ValidString(field)
}

func parseCondition(field string, raw json.RawMessage) ([]Condition, error) {
	if !json.Valid(raw) { // first: TrimSpace trims more than JSON's white space
		return nil, fault.Invalid("filter."+field, string(raw), conditionShape)
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		condition, err := parseEqual(field, field, raw)
		return []Condition{condition}, err
	}
	return parseOperators(field, raw)
}

// operators is the object form of a condition.
type operators struct {
	GT     json.RawMessage `json:"gt"`
	GTE    json.RawMessage `json:"gte"`
	LT     json.RawMessage `json:"lt"`
	LTE    json.RawMessage `json:"lte"`
	Not    json.RawMessage `json:"not"`
	Exists *bool           `json:"exists"`

	Contains   *string `json:"contains"`
	StartsWith *string `json:"starts_with"`
	EndsWith   *string `json:"ends_with"`
}

func parseOperators(field string, raw json.RawMessage) ([]Condition, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var ops operators
	if err := decoder.Decode(&ops); err != nil {
		return nil, fault.Invalid("filter."+field, string(raw), conditionShape)
	}
	bounds, err := parseRange(field, ops)
	if err != nil {
		return nil, err
	}
	conditions, err := parseParts(field, &ops)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		conditions = slices.Insert(conditions, 0, Condition{Field: field, Range: bounds})
	}
	if ops.Not != nil {
		condition, err := parseEqual(field, field+".not", ops.Not)
		if err != nil {
			return nil, err
		}
		condition.Not = true
		conditions = append(conditions, condition)
	}
	if ops.Exists != nil {
		conditions = append(conditions, Condition{Field: field, Exists: ops.Exists})
	}
	if len(conditions) == 0 {
		return nil, fault.Invalid("filter."+field, string(raw), conditionShape)
	}
	return conditions, nil
}

// The accepted bounds of a range.
const (
	timeShape  = "a time in ISO 8601 as 2026-06-10 or 2026-06-10T22:00:00+02:00"
	boundShape = "a number, or " + timeShape
	sameShape  = "a number or a time, like the other bound"
)

// parseRange reads bounds, which are all numbers or all times; those of a time of the gateway's own are times.
func parseRange(field string, ops operators) (*Range, error) {
	var bounds Range
	var first *Value
	set := []struct {
		name string
		raw  json.RawMessage
		into **Value
	}{{"gt", ops.GT, &bounds.GT}, {"gte", ops.GTE, &bounds.GTE}, {"lt", ops.LT, &bounds.LT}, {"lte", ops.LTE, &bounds.LTE}}
	for _, bound := range set {
		if bound.raw == nil {
			continue
		}
		value, err := parseBound(field, bound.name, bound.raw)
		if err != nil {
			return nil, err
		}
		if first != nil && isNumber(first) != isNumber(value) {
			return nil, fault.Invalid("filter."+field+"."+bound.name, value.V, sameShape)
		}
		first = value
		*bound.into = value
	}
	if first == nil {
		return nil, nil
	}
	return &bounds, nil
}

func parseBound(field, name string, raw json.RawMessage) (*Value, error) {
	accepted := boundShape
	if field == FieldWrittenAt {
		accepted = timeShape
	}
	field = "filter." + field + "." + name
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil, fault.Invalid(field, string(raw), accepted)
	}
	switch x := v.(type) {
	case float64:
		if accepted == boundShape {
			return &Value{V: x}, nil
		}
	case string:
		if _, ok := ParseMoment(x); ok {
			return &Value{V: x}, nil
		}
		return nil, fault.Invalid(field, x, accepted)
	}
	return nil, fault.Invalid(field, literal(raw), accepted)
}

// literal is a value as written in the request.
type literal []byte

func (l literal) String() string { return string(l) }

func isNumber(v *Value) bool {
	_, number := v.V.(float64)
	return number
}

// parseParts reads contains, starts_with and ends_with. Different strings of a field may match them.
func parseParts(field string, ops *operators) (conditions []Condition, err error) {
	for _, part := range []struct {
		at   Place
		text *string
	}{{Anywhere, ops.Contains}, {AtStart, ops.StartsWith}, {AtEnd, ops.EndsWith}} {
		if part.text == nil {
			continue
		}
		if *part.text == "" || len(*part.text) > maxNameBytes {
			return nil, fault.Invalid("filter."+field+"."+string(part.at), *part.text, "a string of 1 to 256 bytes")
		}
		conditions = append(conditions, Condition{Field: field, Part: &Part{Text: *part.text, At: part.at}})
	}
	return conditions, nil
}

// parseEqual reads the values that a field may equal; at is their place in the request.
func parseEqual(field, at string, raw json.RawMessage) (Condition, error) {
	values, err := parseValues(at, raw)
	if err != nil || field != FieldWrittenAt {
		return Condition{Field: field, In: values}, err
	}
	return writtenThen(at, values)
}

// writtenThen matches chunks written at one of these times, in whatever form they are written: a day, a month
// or a year matches all times within it.
func writtenThen(at string, values []Value) (Condition, error) {
	var same []Value
	var periods [][]Condition
	for i := range values {
		v := &values[i]
		text, _ := v.V.(string)
		moment, ok := ParseMoment(text)
		if ok && moment.Below-moment.From > 1 {
			in := Condition{Field: FieldWrittenAt, Range: &Range{GTE: v, LTE: v}}
			periods = append(periods, []Condition{in})
			continue
		}
		same = append(same, *v)
		if kept := time.UnixMicro(moment.From).UTC().Format(time.RFC3339Nano); ok && kept != text {
			same = append(same, Value{V: kept})
		}
	}
	condition := Condition{Field: FieldWrittenAt, In: same}
	switch {
	case len(periods) == 0:
		return condition, nil
	case len(periods) > maxFields: // each is compared alone
		return condition, fault.Invalid("filter."+at, len(periods), "at most 32 days, months or years")
	case len(periods) == 1 && same == nil:
		return periods[0][0], nil
	case same != nil:
		periods = append(periods, []Condition{condition})
	}
	return Condition{Field: FieldWrittenAt, AnyOf: periods}, nil
}

func parseValues(field string, raw json.RawMessage) ([]Value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		value, err := parseValue(field, raw)
		if err != nil {
			return nil, err
		}
		return []Value{value}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > MaxValues {
		return nil, fault.Invalid("filter."+field, string(raw), "a list of 1 to 1000 values")
	}
	values := make([]Value, len(list))
	for i, item := range list {
		value, err := parseValue(field, item)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

func parseValue(field string, raw json.RawMessage) (Value, error) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		switch v.(type) {
		case string, float64, bool:
			return Value{V: v}, nil
		}
	}
	return Value{}, fault.Invalid("filter."+field, string(raw), conditionShape)
}
