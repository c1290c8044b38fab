package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
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
		filter, err := f.filter()
		if got := string(text(filter)); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
		if _, err := search.ParseFilter(filter); err != nil {
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
		if filter, err := f.filter(); err == nil {
			t.Errorf("%.40s: %s, want an error", wrong, brief.Of(text(filter)))
		}
	}
	for _, wrong := range []string{`5`, `{"a": "x"}`, `[5]`, `[[["a = x"]]]`} {
		if err := json.Unmarshal([]byte(wrong), new(meiliFilter)); err == nil {
			t.Errorf("%s is taken for a filter; want an error", wrong)
		}
	}
}

func TestMeilisearch(t *testing.T) {
	g := start(t, Options{Keys: []endpoint.Key{key("k1", "acme")}})
	f := func(path, body string, status int, contains ...string) {
		t.Helper()
		got := g.ask("POST", path, body, asJSON, "Authorization: Bearer k1")
		for _, want := range contains {
			if got.status != status || !strings.Contains(got.body, want) {
				t.Errorf("%.80s: %d %.400s, want %d with %s", body, got.status, got.body, status, want)
			}
		}
	}
	one := func(query string) string { return `{"queries": [{"indexUid": "manuals", "q": "q"` + query + `}]}` }
	f("/multi-search", one(`, "limit": 2, "unknown": 1`), 200, `"indexUid":"manuals"`, `"limit":2`, `"offset":0`, `"estimatedTotalHits":`)
	f("/multi-search", one(`, "page": 2, "hitsPerPage": 2`), 200, `"page":2,"hitsPerPage":2,"totalPages":`)
	f("/multi-search", `{"queries": [{"indexUid": "manuals"}, {"indexUid": "manuals", "q": "a", "limit": 0}]}`, 200, `"hits":[],"query":"a"`)
	f("/indexes/manuals/search", `{"q": "q", "attributesToRetrieve": ["id"], "showRankingScore": true}`, 200, `"_rankingScore":`)
	f("/indexes/manuals/facet-search", `{"q": "q", "facetName": "language", "facetQuery": "E"}`, 200, `"facetHits":[`)
	for query, code := range map[string]string{
		`, "filter": "a ="`: "invalid_search_filter", `, "limit": 10001`: "invalid_search_limit", `, "offset": -1`: "invalid_search_offset",
		`, "offset": 10001`: "invalid_search_offset", `, "page": -1`: "invalid_search_page", `, "hitsPerPage": 1001`: "invalid_search_hits_per_page",
		`, "sort": ["a:asc"]`: "invalid_search_sort", `, "facets": ["*"]`: "invalid_search_facets", `, "distinct": "a"`: "invalid_search_distinct",
		`, "attributesToSearchOn": ["title"]`: "invalid_search_attributes_to_search_on",
		`, "rankingScoreThreshold": 2`:        "invalid_search_ranking_score_threshold",
		`, "hybrid": {"semanticRatio": -1}`:   "invalid_search_semantic_ratio", `, "cropLength": 0`: "invalid_search_crop_length",
		`, "limit": "x"`: "invalid_search_limit", `, "filter": 5`: "invalid_search_filter", `, "hybrid": 5`: "bad_request",
	} {
		f("/multi-search", one(query), 400, `"code":"`+code, `"type":"invalid_request"`, `queries[0]`)
	}
	f("/multi-search", `{"queries": []}`, 400, `"code":"invalid_multi_search_queries"`)
	f("/multi-search", `{"queries": [{"q": "q"}]}`, 400, `"code":"invalid_index_uid"`)
	f("/multi-search", `{"federation": {}, "queries": [{"indexUid": "manuals"}]}`, 400, `"code":"invalid_multi_search_federation"`)
	f("/multi-search", `{"queries": [{"indexUid": "nothing", "q": "q"}]}`, 404, `"code":"index_not_found"`)
	f("/indexes/manuals/search", `{"q": "q", "limit": 10001}`, 400, `{"message":"limit is 10001; it must be 0 to 1000","code":"invalid_search_limit"`)
	f("/indexes/manuals/facet-search", `{"q": "q"}`, 400, `"code":"invalid_facet_search_facet_name"`)
	if got := g.ask("POST", "/multi-search", one(""), asJSON); got.status != 401 || !strings.Contains(got.body, "missing_authorization_header") {
		t.Errorf("without a key: %d %s", got.status, brief.Of(got.body))
	}
	if got := g.ask("POST", "/multi-search", one(""), asJSON, "Authorization: Bearer wrong"); got.status != 403 ||
		!strings.Contains(got.body, `"code":"invalid_api_key","type":"auth"`) {
		t.Errorf("with a wrong key: %d %s; want got.status 403 and `\"code\":\"invalid_api_key\",\"type\":\"auth\"` in it", got.status, brief.Of(got.body))
	}
}
