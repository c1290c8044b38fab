package filter_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// FuzzParse: any field and value is refused by name, or gives conditions
// that an engine can hold a chunk against.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`"billing"`, `"2026-06-10"`, `["2026", "2026-06-10T22:00+02:00"]`, `{"gt": "x"}`, `3`, `-0.5e3`, `true`, `["a", 1, false]`, `{"gte": "2026-01-01", "lt": "2027"}`, `{"gt": 1, "lte": 2}`,
		`{"not": ["a", "b"]}`, `{"exists": false}`, `{"not": 1, "exists": true, "gt": 0}`,
		``, ` `, `null`, `[]`, `[null]`, `[[1]]`, `{}`, `{"gt": true}`, `{"gt": 1, "lt": "2"}`, `{"exists": 1}`, `{"near": 1}`,
		`1e999`, `"\ud800"`, `{"gt": {"gt": 1}}`, `{"gt": 1}{"lt": 2}`, `[1]]`, `nul`,
	} {
		f.Add("category", seed)
	}
	for _, seed := range []string{
		`[{"a": 1}]`, `[{"a": {"gte": 1}, "not": {"b": [1, 2]}}, {"any_of": [{"c": true}]}]`, `{"a": 1}`, `{"exists": true}`, `[{}]`, `[null]`,
	} {
		f.Add("any_of", seed)
		f.Add("all_of", seed)
		f.Add("not", seed)
	}
	for _, seed := range []string{`"2026-06-10"`, `["2026", "2026-06-10T22:00+02:00", 3]`, `{"not": "2026", "gt": "2025"}`, `{"gt": 1}`} {
		f.Add("written_at", seed)
	}
	f.Add("metadata.category", `"a"`)
	f.Add("metadata.", `"a"`)
	f.Add("", `1`)
	f.Add("a\xff", `1`)
	f.Add(strings.Repeat("a", 257), `1`)
	f.Fuzz(func(t *testing.T, name, value string) {
		expression := filter.Expression{name: json.RawMessage(value)}
		conditions, err := filter.Parse(expression)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if !json.Valid([]byte(value)) {
			t.Fatalf("%q is no JSON and gave %+v", value, conditions)
		}
		if len(conditions) == 0 {
			t.Fatal("a filter without a condition lets everything pass")
		}
		for i := range conditions {
			checkCondition(t, &conditions[i], strings.TrimPrefix(name, "metadata."))
		}
		if again, err := filter.Parse(expression); err != nil || !reflect.DeepEqual(again, conditions) {
			t.Fatalf("once %+v, then %+v, %v", conditions, again, err)
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.InvalidArgument || !strings.HasPrefix(refused.Field, "filter") {
		t.Fatalf("refused with %#v", err)
	}
}

func checkCondition(t *testing.T, c *filter.Condition, field string) {
	t.Helper()
	forms := 0
	var values []filter.Value
	if c.In != nil {
		forms++
		values = c.In
		if len(c.In) == 0 || len(c.In) > filter.MaxValues {
			t.Fatalf("%d values; want some c.In and at most MaxFilterValues c.In", len(c.In))
		}
		checkIn(t, *c)
	}
	if c.Range != nil {
		forms++
		for _, bound := range []*filter.Value{c.Range.GT, c.Range.GTE, c.Range.LT, c.Range.LTE} {
			if bound != nil {
				values = append(values, *bound)
			}
		}
		checkBounds(t, values)
	}
	if c.Exists != nil {
		forms++
	}
	if c.AnyOf != nil {
		forms++
		for _, all := range c.AnyOf {
			for i := range all {
				checkCondition(t, &all[i], all[i].Field)
			}
		}
	}
	if joined := field == "any_of" || field == "all_of" || field == "not"; forms != 1 || c.Field != field && !joined {
		t.Fatalf("condition %+v on field %q", c, field)
	}
	for _, v := range values {
		switch v.V.(type) {
		case string, float64, bool:
		default:
			t.Fatalf("a value of type %T", v.V)
		}
	}
}

// checkIn: a chunk with one of the values is what the condition asks for.
func checkIn(t *testing.T, c filter.Condition) {
	t.Helper()
	c.Field = "category"
	chunk := &engine.Chunk{Metadata: map[string]any{"category": c.In[len(c.In)-1].V}}
	if c.Matches(chunk) == c.Not {
		t.Fatalf("%+v does not tell %+v", c, chunk.Metadata)
	}
}

// checkBounds: they are numbers or times, all of one kind.
func checkBounds(t *testing.T, bounds []filter.Value) {
	t.Helper()
	times, numbers := 0, 0
	for _, b := range bounds {
		switch v := b.V.(type) {
		case string:
			if _, ok := filter.ParseMoment(v); ok {
				times++
			}
		case float64:
			numbers++
		}
	}
	if len(bounds) == 0 || times != len(bounds) && numbers != len(bounds) {
		t.Fatalf("bounds %+v", bounds)
	}
}
