package esquery

import "encoding/json"

// Terms matches a field that has any of the exact terms, at a constant score:
//
//	{"terms": {"id": ["c1", "c2"]}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-terms-query.html
type Terms struct {
	Common
	Field  string
	Values []any // string, float64, int or bool
}

// MarshalJSON implements json.Marshaler. The field stands beside boost and
// _name, so the members are merged by hand.
func (q Terms) MarshalJSON() ([]byte, error) {
	values := q.Values
	if values == nil {
		values = []any{}
	}
	body, err := members(named[[]any]{q.Field: values}, q.Common)
	if err != nil {
		return nil, err
	}
	return wrap("terms", body)
}

// members merges the members of several values into one object.
func members(values ...any) (named[json.RawMessage], error) {
	all := named[json.RawMessage]{}
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
