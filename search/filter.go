package search

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// metadataPrefix is optional in front of a metadata key.
const metadataPrefix = "metadata."

const filterShape = "a string, number or boolean, a non-empty list of these, " +
	"or an object with gt, gte, lt, lte, not or exists"

// ParseFilter turns a request's filter into conditions, in the order of the
// field names. A field that no chunk has matches nothing and is no error.
func ParseFilter(filter Filter) ([]engine.Condition, error) {
	if len(filter) > MaxFilterFields {
		return nil, fault.Invalid("filter", len(filter), "at most 32 fields")
	}
	names := make([]string, 0, len(filter))
	for name := range filter {
		names = append(names, name)
	}
	sort.Strings(names)
	var conditions []engine.Condition
	for _, name := range names {
		field := strings.TrimPrefix(name, metadataPrefix)
		if field == "" || len(field) > MaxNameBytes || !utf8.ValidString(field) {
			return nil, fault.Invalid("filter", name, "a field name of 1 to 256 bytes")
		}
		parsed, err := parseCondition(field, filter[name])
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, parsed...)
	}
	return conditions, nil
}

func parseCondition(field string, raw json.RawMessage) ([]engine.Condition, error) {
	if !json.Valid(raw) { // first: TrimSpace trims more than JSON's white space
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		values, err := parseValues(field, raw)
		if err != nil {
			return nil, err
		}
		return []engine.Condition{{Field: field, In: values}}, nil
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
}

func parseOperators(field string, raw json.RawMessage) ([]engine.Condition, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var ops operators
	if err := decoder.Decode(&ops); err != nil {
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	var conditions []engine.Condition
	bounds, err := parseRange(field, ops)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		conditions = append(conditions, engine.Condition{Field: field, Range: bounds})
	}
	if ops.Not != nil {
		values, err := parseValues(field+".not", ops.Not)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, engine.Condition{Field: field, In: values, Not: true})
	}
	if ops.Exists != nil {
		conditions = append(conditions, engine.Condition{Field: field, Exists: ops.Exists})
	}
	if len(conditions) == 0 {
		return nil, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	return conditions, nil
}

func parseRange(field string, ops operators) (*engine.Range, error) {
	var bounds engine.Range
	var first any
	set := []struct {
		name string
		raw  json.RawMessage
		into **engine.Value
	}{{"gt", ops.GT, &bounds.GT}, {"gte", ops.GTE, &bounds.GTE}, {"lt", ops.LT, &bounds.LT}, {"lte", ops.LTE, &bounds.LTE}}
	for _, bound := range set {
		if bound.raw == nil {
			continue
		}
		value, err := parseValue(field+"."+bound.name, bound.raw)
		if err != nil {
			return nil, err
		}
		if _, isBool := value.V.(bool); isBool || (first != nil && !sameType(first, value.V)) {
			return nil, fault.Invalid("filter."+field+"."+bound.name, value.V, "a string or a number, like the other bound")
		}
		first = value.V
		*bound.into = &value
	}
	if first == nil {
		return nil, nil
	}
	return &bounds, nil
}

func sameType(a, b any) bool {
	_, aText := a.(string)
	_, bText := b.(string)
	return aText == bText
}

func parseValues(field string, raw json.RawMessage) ([]engine.Value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		value, err := parseValue(field, raw)
		if err != nil {
			return nil, err
		}
		return []engine.Value{value}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > MaxFilterValues {
		return nil, fault.Invalid("filter."+field, string(raw), "a list of 1 to 1000 values")
	}
	values := make([]engine.Value, len(list))
	for i, item := range list {
		value, err := parseValue(field, item)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

func parseValue(field string, raw json.RawMessage) (engine.Value, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return engine.Value{}, fault.Invalid("filter."+field, string(raw), filterShape)
	}
	switch v.(type) {
	case string, float64, bool:
		return engine.Value{V: v}, nil
	default:
		return engine.Value{}, fault.Invalid("filter."+field, string(raw), filterShape)
	}
}
