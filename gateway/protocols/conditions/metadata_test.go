package conditions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/filter"
)

func TestConditionsOfOtherProgramsAreFilters(t *testing.T) {
	f := func(logic, conditions, want string) {
		t.Helper()
		var list []MetadataCondition
		if err := json.Unmarshal([]byte(conditions), &list); err != nil {
			t.Fatal(err)
		}
		made, err := Filter("logical_operator", logic, list)
		got := string(filter.JSON(made))
		if err != nil {
			got = err.Error()
		} else if _, err := filter.Parse(made); err != nil {
			t.Errorf("%s is %s, which is no filter: %v", conditions, got, err)
		}
		if want != got && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s %s is %s, want %s", logic, conditions, got, want)
		}
	}
	one := func(operator, value, want string) {
		t.Helper()
		f("and", `[{"name": "a", "comparison_operator": "`+operator+`", "value": `+value+`}]`, want)
	}
	one("contains", `"x"`, `{"a":{"contains":"x"}}`)
	one("not contains", `"x"`, `{"not":{"a":{"contains":"x"}}}`)
	one("start with", `"x"`, `{"a":{"starts_with":"x"}}`)
	one("end with", `"x"`, `{"a":{"ends_with":"x"}}`)
	one("is", `"x"`, `{"a":["x"]}`)
	one("is", `"5"`, `{"a":["5",5]}`)
	one("=", `5`, `{"a":[5,"5"]}`)
	one("=", `true`, `{"a":[true]}`)
	one("is not", `"x"`, `{"a":{"not":["x"]}}`)
	one("≠", `5`, `{"a":{"not":[5,"5"]}}`)
	one("in", `"x, y"`, `{"a":["x","y"]}`)
	one("in", `["x", 5]`, `{"a":["x",5,"5"]}`)
	one("not in", `["x"]`, `{"a":{"not":["x"]}}`)
	one("empty", `null`, `{"any_of":[{"a":{"exists":false}},{"a":[""]}]}`)
	one("not empty", `""`, `{"a":{"exists":true,"not":""}}`)
	one(">", `"5"`, `{"a":{"gt":5}}`)
	one("≤", `5.5`, `{"a":{"lte":5.5}}`)
	one("<", `"2026-06-10"`, `{"a":{"lt":"2026-06-10"}}`)
	one("<", `"b"`, `conditions[0].value is "b"; it must be a number, or a time in ISO 8601 as 2026-06-10 or 2026-06-10T22:00:00+02:00`)
	one(">=", `"NaN"`, `conditions[0].value is "NaN"; it must be a number, or a time`)
	one("before", `1700000000`, `{"any_of":[{"a":{"lt":1700000000}},{"a":{"lt":"2023-11-14T22:13:20Z"}}]}`)
	one("after", `"1700000000.25"`, `{"any_of":[{"a":{"gt":1700000000.25}},{"a":{"gt":"2023-11-14T22:13:20.25Z"}}]}`)
	one("after", `"2023-11-14"`, `{"any_of":[{"a":{"gte":1700006400}},{"a":{"gt":"2023-11-14"}}]}`)
	one("before", `"2023-11-14"`, `{"any_of":[{"a":{"lt":1699920000}},{"a":{"lt":"2023-11-14"}}]}`)
	one("after", `"2023-11-14T01:00+01:00"`, `{"any_of":[{"a":{"gt":1699920000}},{"a":{"gt":"2023-11-14T01:00+01:00"}}]}`)
	one("before", `"2023"`, `{"any_of":[{"a":{"lt":1672531200}},{"a":{"lt":"2023"}}]}`)
	one("before", `1700000000000`, `{"a":{"lt":1700000000000}}`)
	one("after", `"some day"`, `conditions[0].value is "some day"; it must be a number, or a time`)
	own := func(operator, value, want string) {
		t.Helper()
		f("and", `[{"name": "written_at", "comparison_operator": "`+operator+`", "value": `+value+`}]`, want)
	}
	own(">", `"2026"`, `{"written_at":{"gt":"2026"}}`)
	own("before", `1700000000`, `{"written_at":{"lt":"2023-11-14T22:13:20Z"}}`)
	own("after", `"2023-11-14"`, `{"written_at":{"gt":"2023-11-14"}}`)
	own("before", `1700000000000`, `conditions[0].value is 1700000000000; it must be a time`)
	own("<", `5`, `conditions[0].value is 5; it must be a time in ISO 8601 as`)
	one("is", `null`, `null`)
	one("is", `[]`, `null`)
	one("is", `{"b": 1}`, `conditions[0].value is "{\"b\": 1}"`)
	one("like", `"x"`, `conditions[0].comparison_operator is "like"`)
	f("or", `[{"name": ["a", "b"], "comparison_operator": "is", "value": "x"}, {"name": "c", "comparison_operator": "is", "value": "y"}]`,
		`{"any_of":[{"any_of":[{"a":["x"]},{"b":["x"]}]},{"c":["y"]}]}`)
	f("", `[{"name": "a", "comparison_operator": "is", "value": "x"}, {"name": "c", "comparison_operator": "is", "value": "y"}]`,
		`{"all_of":[{"a":["x"]},{"c":["y"]}]}`)
	f("and", `[{"name": "", "comparison_operator": "is", "value": "x"}]`, `conditions[0].name is ""; it must be a field name of 1 to 256 bytes`)
	f("and", `[{"name": "a", "comparison_operator": "contains", "value": ""}]`, `conditions[0].value is ""; it must be a string of 1 to 256 bytes`)
	f("and", `[{"name": "a", "comparison_operator": ">", "value": true}]`, `conditions[0].value is "true"; it must be a number, or a time`)
	f("xor", `[{"name": "a", "comparison_operator": "is", "value": "x"}]`, `logical_operator is "xor"`)
	f("and", `[{"comparison_operator": "is", "value": "x"}]`, `conditions[0].name`)
	f("and", `[]`, `null`)
}
