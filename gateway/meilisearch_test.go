package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestMeilisearch(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}})
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
