package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// metadataPrefix is optional in front of a metadata key.
const metadataPrefix = "metadata."

const filterShape = "a string, number or boolean, a non-empty list of these, " +
	"or an object with gt, gte, lt, lte, contains, starts_with, ends_with, not or exists"

// The accepted values of joins.
const (
	listShape = "a non-empty list of filters, or what a field of that name must be"
	notShape  = "a filter, or what a field of that name must be"
)

// The names that join filters, beside the names of fields.
const (
	filterAnyOf = "any_of" // a list of filters, one of which must pass
	filterAllOf = "all_of" // a list of filters, all of which must pass
	filterNot   = "not"    // a filter that must not pass
)

// ParseFilter turns a request's filter into conditions, in the order of the
// field names. A field that no chunk has matches nothing and is no error.
func ParseFilter(expression Filter) ([]filter.Condition, error) {
	p := filterParser{}
	return p.parse(expression, 1)
}

// filterParser counts the fields of a filter.
type filterParser struct{ fields int }

func (p *filterParser) parse(expression Filter, depth int) ([]filter.Condition, error) {
	if depth > MaxFilterDepth {
		return nil, fault.Invalid("filter", "deeper", "any_of, all_of and not at most 8 deep")
	}
	if p.fields += len(expression); p.fields > MaxFilterFields {
		return nil, fault.Invalid("filter", p.fields, "at most 32 fields")
	}
	names := make([]string, 0, len(expression))
	for name := range expression {
		names = append(names, name)
	}
	sort.Strings(names)
	var conditions []filter.Condition
	for _, name := range names {
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
func (p *filterParser) member(name string, raw json.RawMessage, depth int) ([]filter.Condition, error) {
	switch name {
	case filterAnyOf, filterAllOf:
		if filters, ok := filtersIn(raw); ok {
			return p.join(name, filters, depth)
		}
	case filterNot:
		if negated, ok := filterIn(raw); ok {
			parsed, err := p.parse(negated, depth+1)
			if err != nil {
				return nil, err
			}
			return []filter.Condition{{Field: name, AnyOf: [][]filter.Condition{parsed}, Not: true}}, nil
		}
	}
	field := strings.TrimPrefix(name, metadataPrefix)
	if field == "" || len(field) > MaxNameBytes || !utf8.ValidString(field) {
		return nil, fault.Invalid("filter", name, "a field name of 1 to 256 bytes")
	}
	conditions, err := parseCondition(field, raw)
	switch {
	case err != nil && (name == filterAnyOf || name == filterAllOf):
		return nil, fault.Invalid("filter."+name, string(raw), listShape)
	case err != nil && name == filterNot:
		return nil, fault.Invalid("filter."+name, string(raw), notShape)
	}
	return conditions, err
}

func (p *filterParser) join(name string, filters []Filter, depth int) ([]filter.Condition, error) {
	var lists [][]filter.Condition
	var all []filter.Condition
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
	if name == filterAllOf {
		return all, nil
	}
	return []filter.Condition{{Field: name, AnyOf: lists}}, nil
}

// filtersIn reads a list of filters.
func filtersIn(raw json.RawMessage) (filters []Filter, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &filters) != nil || len(filters) == 0 {
		return nil, false
	}
	return filters, !slices.ContainsFunc(filters, func(f Filter) bool { return f == nil })
}

// filterIn reads a filter; an object with nothing but operators is a condition on a field.
func filterIn(raw json.RawMessage) (filter Filter, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &filter) != nil || len(filter) == 0 {
		return nil, false
	}
	for name, value := range filter {
		nested := bytes.HasPrefix(bytes.TrimSpace(value), []byte("{"))
		if !slices.Contains(operatorNames, name) || nested {
			return filter, true
		}
	}
	return nil, false
}

// operatorNames are the members of operators.
var operatorNames = []string{"gt", "gte", "lt", "lte", "contains", "starts_with", "ends_with", "not", "exists"}

func parseCondition(field string, raw json.RawMessage) ([]filter.Condition, error) {
	if !json.Valid(raw) { // first: TrimSpace trims more than JSON's white space
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		condition, err := parseEqual(field, field, raw)
		return []filter.Condition{condition}, err
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

func parseOperators(field string, raw json.RawMessage) ([]filter.Condition, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var ops operators
	if err := decoder.Decode(&ops); err != nil {
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	var conditions []filter.Condition
	bounds, err := parseRange(field, ops)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		conditions = append(conditions, filter.Condition{Field: field, Range: bounds})
	}
	parts, err := parseParts(field, &ops)
	if err != nil {
		return nil, err
	}
	conditions = append(conditions, parts...)
	if ops.Not != nil {
		condition, err := parseEqual(field, field+".not", ops.Not)
		if err != nil {
			return nil, err
		}
		condition.Not = true
		conditions = append(conditions, condition)
	}
	if ops.Exists != nil {
		conditions = append(conditions, filter.Condition{Field: field, Exists: ops.Exists})
	}
	if len(conditions) == 0 {
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
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
func parseRange(field string, ops operators) (*filter.Range, error) {
	var bounds filter.Range
	var first *filter.Value
	set := []struct {
		name string
		raw  json.RawMessage
		into **filter.Value
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

func parseBound(field, name string, raw json.RawMessage) (*filter.Value, error) {
	accepted := boundShape
	if field == engine.FieldWrittenAt {
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
			return &filter.Value{V: x}, nil
		}
	case string:
		if _, ok := filter.ParseMoment(x); ok {
			return &filter.Value{V: x}, nil
		}
		return nil, fault.Invalid(field, x, accepted)
	}
	return nil, fault.Invalid(field, literal(raw), accepted)
}

// literal is a value as written in the request.
type literal []byte

func (l literal) String() string { return string(l) }

func isNumber(v *filter.Value) bool {
	_, number := v.V.(float64)
	return number
}

// parseParts reads contains, starts_with and ends_with. Different strings of a field may match them.
func parseParts(field string, ops *operators) (conditions []filter.Condition, err error) {
	for _, part := range []struct {
		at   filter.Place
		text *string
	}{{filter.Anywhere, ops.Contains}, {filter.AtStart, ops.StartsWith}, {filter.AtEnd, ops.EndsWith}} {
		if part.text == nil {
			continue
		}
		if *part.text == "" || len(*part.text) > MaxNameBytes {
			return nil, fault.Invalid("filter."+field+"."+string(part.at), *part.text, "a string of 1 to 256 bytes")
		}
		conditions = append(conditions, filter.Condition{Field: field, Part: &filter.Part{Text: *part.text, At: part.at}})
	}
	return conditions, nil
}

// parseEqual reads the values that a field may equal; at is their place in the request.
func parseEqual(field, at string, raw json.RawMessage) (filter.Condition, error) {
	values, err := parseValues(at, raw)
	if err != nil || field != engine.FieldWrittenAt {
		return filter.Condition{Field: field, In: values}, err
	}
	return writtenThen(at, values)
}

// writtenThen matches chunks written at one of these times, in whatever form they are written: a day, a month
// or a year matches all times within it.
func writtenThen(at string, values []filter.Value) (filter.Condition, error) {
	var same []filter.Value
	var periods [][]filter.Condition
	for i := range values {
		v := &values[i]
		text, _ := v.V.(string)
		moment, ok := filter.ParseMoment(text)
		if ok && moment.Below-moment.From > 1 {
			in := filter.Condition{Field: engine.FieldWrittenAt, Range: &filter.Range{GTE: v, LTE: v}}
			periods = append(periods, []filter.Condition{in})
			continue
		}
		same = append(same, *v)
		if kept := time.UnixMicro(moment.From).UTC().Format(time.RFC3339Nano); ok && kept != text {
			same = append(same, filter.Value{V: kept})
		}
	}
	condition := filter.Condition{Field: engine.FieldWrittenAt, In: same}
	switch {
	case len(periods) == 0:
		return condition, nil
	case len(periods) > MaxFilterFields: // each is compared alone
		return condition, fault.Invalid("filter."+at, len(periods), "at most 32 days, months or years")
	case len(periods) == 1 && same == nil:
		return periods[0][0], nil
	case same != nil:
		periods = append(periods, []filter.Condition{condition})
	}
	return filter.Condition{Field: engine.FieldWrittenAt, AnyOf: periods}, nil
}

func parseValues(field string, raw json.RawMessage) ([]filter.Value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		value, err := parseValue(field, raw)
		if err != nil {
			return nil, err
		}
		return []filter.Value{value}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > MaxFilterValues {
		return nil, fault.Invalid("filter."+field, string(raw), "a list of 1 to 1000 values")
	}
	values := make([]filter.Value, len(list))
	for i, item := range list {
		value, err := parseValue(field, item)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

func parseValue(field string, raw json.RawMessage) (filter.Value, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return filter.Value{}, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	switch v.(type) {
	case string, float64, bool:
		return filter.Value{V: v}, nil
	default:
		return filter.Value{}, fault.Invalid("filter."+field, string(raw), filterShape)
	}
}

// Filter maps a field to its condition, as in JSON; ParseFilter turns it
// into engine conditions.
type Filter map[string]json.RawMessage
