package filter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// TestNestedFilters says which of some chunks pass.
func TestNestedFilters(t *testing.T) {
	chunks := []engine.Chunk{
		{ID: "a", Metadata: map[string]any{"kind": "note", "year": 2024.0, "tags": []any{"x", "y"}}},
		{ID: "b", Metadata: map[string]any{"kind": "page", "year": 2026.0, "not": 3.0}},
		{ID: "c", Metadata: map[string]any{"kind": "page", "tags": []any{"y"}, "any_of": "z"}},
		{ID: "d"},
	}
	for text, want := range map[string]string{
		`{"any_of": [{"kind": "note"}, {"year": {"gte": 2026}}]}`:                                        "ab",
		`{"any_of": [{"kind": "page", "year": 2026}, {"tags": "x"}]}`:                                    "ab",
		`{"all_of": [{"kind": "page"}, {"tags": "y"}]}`:                                                  "c",
		`{"not": {"kind": "page"}}`:                                                                      "ad",
		`{"not": {"kind": "page", "tags": "y"}}`:                                                         "abd",
		`{"not": {"tags": ["x", "q"]}}`:                                                                  "bcd",
		`{"kind": ["page", "note"], "not": {"any_of": [{"year": {"lt": 2025}}, {"tags": "y"}]}}`:         "b",
		`{"any_of": [{"not": {"kind": {"exists": true}}}, {"all_of": [{"tags": "x"}, {"year": 2024}]}]}`: "ad",
		`{"not": {"gte": 3}}`:                                                                            "b",   // a field that is called not
		`{"not": {"exists": true}}`:                                                                      "b",   // as ever
		`{"not": {"not": 3}}`:                                                                            "acd", // the field not is anything but 3
		`{"not": {"not": {"not": 3, "kind": "page"}}}`:                                                   "b",
		`{"kind": {"contains": "ot"}}`:                                                                   "a",
		`{"kind": {"starts_with": "pa", "ends_with": "e"}, "tags": {"contains": "y"}}`:                   "c",
		`{"not": {"kind": {"ends_with": "ge"}}}`:                                                         "ad",
		`{"year": {"contains": "2"}}`:                                                                    "",
		`{"any_of": "z"}`:                                                                                "c",
		`{"metadata.any_of": ["z"]}`:                                                                     "c",
	} {
		conditions, err := filter.Parse(filterOf(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for i := range chunks {
			if filter.MatchesAll(conditions, &chunks[i]) {
				got += chunks[i].ID
			}
		}
		if got != want {
			t.Errorf("%s: %s pass, want %s", text, got, want)
		}
	}
}

// TestBounds: numbers or times, all of one kind.
func TestBounds(t *testing.T) {
	const time = "a time in ISO 8601 as 2026-06-10 or 2026-06-10T22:00:00+02:00"
	f := func(field, condition, member, seen, accepted string) {
		t.Helper()
		_, err := filter.Parse(filterOf(t, fmt.Sprintf(`{%q: %s}`, field, condition)))
		if accepted == "" {
			if err != nil {
				t.Errorf("%s %s: %v", field, condition, err)
			}
			return
		}
		e := new(fault.Error)
		if !errors.As(err, &e) || e.Kind != fault.InvalidArgument || e.Field != "filter."+field+"."+member ||
			!strings.Contains(err.Error(), "is "+seen+"; it must be "+accepted) {
			t.Errorf("%s %s: %v, want %s of %s", field, condition, err, accepted, member)
		}
	}
	f("a", `{"gt": 1, "lte": 2.5}`, "", "", "")
	f("a", `{"gte": "2026", "lt": "2026-06-10T22:00:00.5+02:00"}`, "", "", "")
	f("a", `{"gt": "yesterday"}`, "gt", `"yesterday"`, "a number, or "+time)
	f("a", `{"lte": "2026-02-30"}`, "lte", `"2026-02-30"`, "a number, or "+time)
	f("a", `{"lt": "5"}`, "lt", `"5"`, "a number, or "+time)
	f("a", `{"lt": true}`, "lt", "true", "a number, or "+time)
	f("a", `{"lt": ["2026"]}`, "lt", `["2026"]`, "a number, or "+time)
	f("a", `{"gte": 5, "lt": "2026"}`, "lt", `"2026"`, "a number or a time, like the other bound")
	f("a", `{"gte": "2026", "lt": 5}`, "lt", "5", "a number or a time, like the other bound")
	f("written_at", `{"gte": "2026", "lt": "2027-01"}`, "", "", "")
	f("written_at", `{"gte": 1767225600}`, "gte", "1767225600", time)
	f("written_at", `{"gte": "yesterday"}`, "gte", `"yesterday"`, time)
	f("written_at", `"yesterday"`, "", "", "")
	days := strings.Repeat(`"2026-01-01", `, 32)
	f("written_at", `[`+days+`"2026-01-01T00:00"]`, "", "", "")
	_, err := filter.Parse(filterOf(t, `{"written_at": {"not": [`+days+`"2026"]}}`))
	if err == nil || !strings.Contains(err.Error(), "written_at.not is 33; it must be at most 32 days, months or years") {
		t.Errorf(`33 periods: %v; want an error and "written_at.not is 33; it must be at most 32 days, months or years" in it`, err)
	}
}

// TestWrittenThen: written_at is equal to its moment however that is written, and to days, months and years.
func TestWrittenThen(t *testing.T) {
	chunks := []engine.Chunk{
		{ID: "a", WrittenAt: "2026-06-10T20:00:00Z"},
		{ID: "b", WrittenAt: "2026-07-01T00:00:00Z"},
		{ID: "c", Metadata: map[string]any{"written_at": []any{"2026-06-10T22:00:00+02:00", 3.0, "soon"}}}, // of before the field was
		{ID: "d"},
	}
	for condition, want := range map[string]string{
		`"2026-06-10T20:00:00Z"`:                     "a",
		`"2026-06-10T22:00:00+02:00"`:                "ac",
		`"2026-06-10 20:00"`:                         "a",
		`"2026-06-10T20:00:00.5Z"`:                   "",
		`"2026-06-10"`:                               "ac",
		`["2026-06", "2026-07-01"]`:                  "abc",
		`["2026-07", "2026-06-10T20:00Z", 3]`:        "abc",
		`{"not": "2026-06-10"}`:                      "bd",
		`{"not": ["2026-07-01", "soon"]}`:            "ad",
		`{"not": "2026-06-10T22:00+02:00"}`:          "bcd",
		`[3, "soon"]`:                                "c",
		`{"gte": "2026-06-10", "not": "2026-06-10"}`: "b",
	} {
		conditions, err := filter.Parse(filterOf(t, `{"written_at": `+condition+`}`))
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		got := ""
		for i := range chunks {
			if filter.MatchesAll(conditions, &chunks[i]) {
				got += chunks[i].ID
			}
		}
		if got != want {
			t.Errorf("%s: %s pass, want %s", condition, got, want)
		}
	}
}

func TestNestedFiltersAreBounded(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf(`{"f%d": 1}`, i)
	}
	for text, accepted := range map[string]string{
		strings.Repeat(`{"not": {"a": 1, "any_of": [`, 25) + `{"b": 1}` + strings.Repeat(`]}}`, 25): "8 deep",
		`{"any_of": [` + strings.Join(many, ", ") + `]}`:                                            "32 fields",
		`{"any_of": [{}]}`:            "at least one field",
		`{"any_of": []}`:              "list of filters",
		`{"any_of": {"a": 1}}`:        "list of filters",
		`{"all_of": [{"a": 1}, "x"]}`: "list of filters",
		`{"not": [{"a": 1}]}`:         "filter.not",
		`{"not": {}}`:                 "a filter, or",
		`{"any_of": [{"a": {}}]}`:     "filter.a",
		`{"all_of": [{"a": [[1]]}]}`:  "filter.a",
		`{"a": {"contains": ""}}`:     "1 to 256 bytes",
		`{"a": {"starts_with": 1}}`:   "starts_with",
		`{"a": {"ends_with": "` + strings.Repeat("x", 257) + `"}}`: "filter.a.ends_with",
	} {
		_, err := filter.Parse(filterOf(t, text))
		if e := new(fault.Error); !errors.As(err, &e) || e.Kind != fault.InvalidArgument || !strings.Contains(err.Error(), accepted) {
			t.Errorf("%.60s: %v, want %s", text, err, accepted)
		}
	}
}

func filterOf(t *testing.T, text string) (expression filter.Expression) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &expression); err != nil {
		t.Fatal(err)
	}
	return expression
}
