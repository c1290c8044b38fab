package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
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
		conditions, err := search.ParseFilter(filterOf(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for i := range chunks {
			if engine.MatchesAll(conditions, &chunks[i]) {
				got += chunks[i].ID
			}
		}
		if got != want {
			t.Errorf("%s: %s pass, want %s", text, got, want)
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
		_, err := search.ParseFilter(filterOf(t, text))
		if e := new(fault.Error); !errors.As(err, &e) || e.Kind != fault.InvalidArgument || !strings.Contains(err.Error(), accepted) {
			t.Errorf("%.60s: %v, want %s", text, err, accepted)
		}
	}
}

func filterOf(t *testing.T, text string) (filter search.Filter) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &filter); err != nil {
		t.Fatal(err)
	}
	return filter
}

func testNestedFilters(b *bench) {
	b.fill("k", shelf()...)
	for filter, want := range map[string]string{
		`{"any_of": [{"category": "account"}, {"page": {"lte": 0}}]}`: "login refund-zh",
		`{"not": {"category": ["billing", "animals"]}}`:               "login bare", // bare says nothing
	} {
		for _, preset := range []string{"balanced", "rrf", "text"} {
			r := b.answer(`{"query": "refund login password 退款 burrow", "vector": [0.1, 0.8, 0.1, 0], "knowledge_bases": ["k"],
				"preset": "` + preset + `", "filter": ` + filter + `, "copies": "keep"}`)
			if !sameIDs(ids(r), want) {
				b.Errorf("%s of %s: %s, want %s", preset, filter, ids(r), want)
			}
		}
	}
	e, err := b.searcher.Explain(b.Context(), scope, search.ExplainRequest{ChunkID: "invoice", Request: search.Request{
		Query: "refund", Vector: []float32{1, 0, 0, 0}, KnowledgeBases: []string{"k"},
		Filter: search.Filter{"not": json.RawMessage(`{"category": "billing"}`)},
	}})
	if err != nil || e.Outcome != search.OutcomeFiltered || !strings.Contains(e.Detail, "not") {
		b.Errorf("%v, %+v", err, e)
	}
}

// sameIDs compares without order.
func sameIDs(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	left := map[string]int{}
	for _, id := range g {
		left[id]++
	}
	for _, id := range w {
		left[id]--
	}
	for _, n := range left {
		if n != 0 {
			return false
		}
	}
	return true
}
