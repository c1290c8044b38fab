package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/filter"
)

func TestFiltersOfOpenAIAreFilters(t *testing.T) {
	f := func(written, want string) {
		t.Helper()
		var parsed openAIFilter
		if err := json.Unmarshal([]byte(written), &parsed); err != nil {
			t.Fatal(err)
		}
		made, err := parsed.filter("filters", 1)
		got := string(filter.JSON(made))
		if err != nil {
			got = err.Error()
		} else if _, err := filter.Parse(made); err != nil {
			t.Errorf("%s is %s, which is no filter: %v", written, got, err)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", written, got, want)
		}
	}
	f(`{"type": "eq", "key": "a", "value": "x"}`, `{"a":"x"}`)
	f(`{"type": "in", "key": "a", "value": ["x", 5]}`, `{"a":["x",5]}`)
	f(`{"type": "ne", "key": "a", "value": 5}`, `{"a":{"not":5}}`)
	f(`{"type": "nin", "key": "a", "value": [true]}`, `{"a":{"not":[true]}}`)
	f(`{"type": "gte", "key": "a", "value": 5}`, `{"a":{"gte":5}}`)
	f(`{"type": "and", "filters": [{"type": "eq", "key": "a", "value": 1}, {"type": "or", "filters": [{"type": "lt", "key": "b", "value": 2}]}]}`,
		`{"all_of":[{"a":1},{"b":{"lt":2}}]}`)
	f(`{"type": "or", "filters": []}`, `filters.filters is "empty"; it must be a list of filters`)
	f(`{"type": "eq", "value": 1}`, `filters.key is ""; it must be the name of a field`)
	f(`{"type": "eq", "key": "a"}`, `filters.value is ""; it must be a string, a number, true or false, or a list of these`)
	f(`{"type": "and", "filters": [{"type": "like", "key": "a", "value": 1}]}`,
		`filters.filters[0].type is "like"; it must be eq, ne, gt, gte, lt, lte, in, nin, and, or`)
	deep := strings.Repeat(`{"type": "and", "filters": [`, 17) + `{"type": "eq", "key": "a", "value": 1}` + strings.Repeat(`]}`, 17)
	var parsed openAIFilter
	if err := json.Unmarshal([]byte(deep), &parsed); err != nil {
		t.Fatal(err)
	}
	if _, err := parsed.filter("filters", 1); err == nil || !strings.Contains(err.Error(), "nested at most 16 deep") {
		t.Errorf(`a filter in 17 others: %v; want an error and "nested at most 16 deep" in it`, err)
	}
}
