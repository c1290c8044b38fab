package meilisearch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// Promise: "knows every operator but places" (docs/guide/en/instantsearch.md).
func TestMeilisearchFilters(t *testing.T) {
	for given, want := range map[string]string{
		`"language = zh"`:                                 `{"language":["zh"]}`,
		`"\"a b\"=\"it's \\\"so\\\"\""`:                   `{"a b":["it's \"so\""]}`,
		`"year = 2024"`:                                   `{"year":["2024",2024]}`,
		`"public = true"`:                                 `{"public":["true",true]}`,
		`"year != '2024'"`:                                `{"year":{"not":["2024",2024]}}`,
		`"year >= 2020 AND year < 2024"`:                  `{"all_of":[{"year":{"gte":2020}},{"year":{"lt":2024}}]}`,
		`"date > \"2024-01-02\""`:                         `{"date":{"gt":"2024-01-02"}}`,
		`"\"year\" 2020 TO 2024"`:                         `{"year":{"gte":2020,"lte":2024}}`,
		`"date 2026-01 TO 2026-06-10T22:00:00+02:00"`:     `{"date":{"gte":"2026-01","lte":"2026-06-10T22:00:00+02:00"}}`,
		`"written_at > 2026"`:                             `{"written_at":{"gt":"2026"}}`,
		`"a IN [x, 'y z', 3]"`:                            `{"a":["x","y z","3",3]}`,
		`"a NOT IN [x]"`:                                  `{"not":{"a":["x"]}}`,
		`"a EXISTS"`:                                      `{"a":{"exists":true}}`,
		`"a NOT EXISTS OR b IS NOT NULL"`:                 `{"any_of":[{"a":{"exists":false}},{"b":{"exists":true}}]}`,
		`"a IS EMPTY"`:                                    `{"any_of":[{"a":{"exists":false}},{"a":""}]}`,
		`"a CONTAINS x AND b STARTS WITH y"`:              `{"all_of":[{"a":{"contains":"x"}},{"b":{"starts_with":"y"}}]}`,
		`"a NOT CONTAINS x"`:                              `{"not":{"a":{"contains":"x"}}}`,
		`"NOT (a = x OR b = y) AND c = z"`:                `{"all_of":[{"not":{"any_of":[{"a":["x"]},{"b":["y"]}]}},{"c":["z"]}]}`,
		`"a = x OR a = 5"`:                                `{"a":["x","5",5]}`,
		`[["\"a\"=\"x\"", "\"a\"=\"y\""], "\"b\"=\"z\""]`: `{"all_of":[{"a":["x","y"]},{"b":["z"]}]}`,
		`[]`: `null`, `""`: `null`, `[[]]`: `null`,
		`"a IN []"`: `{"all_of":[{"a":{"exists":true}},{"a":{"exists":false}}]}`,
	} {
		var f meiliFilter
		if err := json.Unmarshal([]byte(given), &f); err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		made, err := f.filter()
		if got := string(filter.JSON(made)); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
		if _, err := filter.Parse(made); err != nil {
			t.Errorf("%s: %v", given, err)
		}
	}
	for _, wrong := range []string{
		`"a ="`, `"= x"`, `"a = x b"`, `"(a = x"`, `"a LIKE x"`, `"_geoRadius = 5"`, `"a = \"x"`, `"a CONTAINS"`, `"AND"`,
		`"` + strings.Repeat("(", 8000) + `"`, `"a = ` + strings.Repeat("x", 9000) + `"`, `"a = x AND NOT"`,
	} {
		var f meiliFilter
		if err := json.Unmarshal([]byte(wrong), &f); err != nil {
			t.Errorf("%.40s: %v", wrong, err)
		}
		if made, err := f.filter(); err == nil {
			t.Errorf("%.40s: %s, want an error", wrong, brief.Of(filter.JSON(made)))
		}
	}
	for _, wrong := range []string{`5`, `{"a": "x"}`, `[5]`, `[[["a = x"]]]`} {
		if err := json.Unmarshal([]byte(wrong), new(meiliFilter)); err == nil {
			t.Errorf("%s is taken for a filter; want an error", wrong)
		}
	}
}
