package gateway

import (
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func TestBadInput(t *testing.T) {
	g := start(t, Options{})
	// f sends a body to /v1/search and wants a 400 about the field.
	f := func(body, field, detail string) {
		t.Helper()
		got := g.ask("POST", "/v1/search", body, asJSON)
		if got.status != http.StatusBadRequest {
			t.Errorf("%.60q: status %d, want 400: %s", body, got.status, brief.Of(got.body))
			return
		}
		p := got.problem(t)
		if p.Code != "invalid_argument" || p.Field != field || !strings.Contains(p.Detail, detail) || len(p.Detail) > 300 {
			t.Errorf("%.60q: %s; want field %q and %q", body, brief.Of(got.body), field, detail)
		}
		chinese := g.ask("POST", "/v1/search", body, asJSON, "Accept-Language: zh-CN").problem(t)
		if chinese.Code != p.Code || chinese.Field != p.Field || !strings.ContainsFunc(chinese.Detail, isHan) {
			t.Errorf("%.60q: to a Chinese reader %+v, in English %+v", body, chinese, p)
		}
	}
	f(``, "", "the body is empty")
	f("  \n", "", "the body is empty")
	f(`null`, "", "the body is null")
	f(`[]`, "", "the body is a list; it must be an object")
	f(`"x"`, "", "the body is a string")
	f(`{`, "", "not valid JSON")
	f(`{"query": "a"`, "", "not valid JSON")
	f(`{"query": }`, "query", "not valid JSON")
	f(`{"query": "a"} {"query": "b"}`, "", "not valid JSON")
	f(`{"query": 1}`, "query", "query is a number; it must be a string")
	f(`{"query": "a", "top_k": "6"}`, "top_k", "top_k is a string; it must be a whole number")
	f(`{"query": "a", "top_k": 1.5}`, "top_k", "top_k is 1.5; it must be a whole number")
	f(`{"query": "a", "top_k": 1e99}`, "top_k", "must be a whole number")
	f(`{"query": "a", "top_k": 99999999999999999999}`, "top_k", "must be a whole number")
	f(`{"query": "a", "knowledge_bases": "manuals"}`, "knowledge_bases", "it must be a list")
	f(`{"query": "a", "knowledge_bases": [7]}`, "knowledge_bases[0]", "it must be a string")
	f(`{"query": "a", "weights": {"text": NaN}}`, "weights.text", "not valid JSON")
	f(`{"query": "a", "weights": {"text": 1e999}}`, "weights.text", "weights.text is 1e999; it must be a finite number")
	f(`{"query": "a", "weights": {"text": "much"}}`, "weights.text", "it must be a finite number")
	f(`{"query": "a", "weights": [1]}`, "weights", "it must be an object")
	f(`{"query": "a", "vector": [1, 2, "x"]}`, "vector[2]", "it must be a finite number")
	f(`{"query": "a", "vector": [1, 1e39]}`, "vector[1]", "it must be a finite number")
	f(`{"query": "a", "threshold": {"scor": 1}}`, "threshold.scor", "is not a member that is known here")
	f(`{"query": "a", "topk": 5}`, "topk", "topk is not a member that is known here")
	f(`{"Query": "a"}`, "Query", "is not a member that is known here")
	f(`{"query": "a", "explain": "yes"}`, "explain", "it must be true or false")
	f(`{"query": "a", "query": "b"}`, "query", "stands there twice")
	f("{\"query\": \"a\xff\"}", "query", "invalid UTF-8")
	f("\xff\xfe{\x00}\x00", "", "not valid JSON")
	f(`{"query": "\ud800"}`, "query", "not valid JSON")
	f(`{"query": "a", "`+strings.Repeat("x", 5000)+`": 1}`, strings.Repeat("x", 80)+"…", "is not a member")
	f(`{"filter": {"a": {"b": `+strings.Repeat("[", 20_000)+`}}}`, "filter.a.b"+strings.Repeat("[0]", 23)+"[…", "max depth")
	f(`{"threshold": `+strings.Repeat(`{"score":`, 12_000), "threshold"+strings.Repeat(".score", 11)+".scor…", "max depth")
	if calls := g.seen(); len(calls) != 0 {
		t.Errorf("%d bad requests reached the searcher; want no calls", len(calls))
	}
}

// Null is the same as leaving an optional member out.
func TestNullMembers(t *testing.T) {
	g := start(t, Options{})
	body := `{"query": "a", "knowledge_bases": ["manuals"], "user": null, "rerank": null, "group_by": null, "top_k": null,
		"weights": null, "vector": null, "threshold": null, "filter": null, "highlight": null, "facets": null, "facet_mode": null, "neighbours": null}`
	if got := g.ask("POST", "/v1/search", body, asJSON); got.status != 200 {
		t.Errorf("%d %s; want got.status 200", got.status, brief.Of(got.body))
	}
	if r := g.searched; r.User != nil || r.TopK != nil || r.Weights != nil || r.Filter != nil || r.Query != "a" {
		t.Errorf(`decoded as %+v; want no r.User and no r.TopK and no r.Weights and no r.Filter and r.Query "a"`, r)
	}
}

func TestBadRequests(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{JSONBytes: 100_000}}})
	f := func(method, path, body, contentType string, status int, code, field string) reply {
		t.Helper()
		headers := []string{}
		if contentType != "" {
			headers = append(headers, "Content-Type: "+contentType)
		}
		got := g.ask(method, path, body, headers...)
		if p := got.problem(t); got.status != status || p.Code != code || p.Field != field {
			t.Errorf("%s %s (%s): %d %s, want %d %s %q", method, path, contentType, got.status, brief.Of(got.body), status, code, field)
		}
		return got
	}
	const js, nd = "application/json", "application/x-ndjson"
	huge := `{"query": "` + strings.Repeat("a", 200_000) + `"}`
	f("POST", "/v1/search", huge, js, 413, "too_large", "")
	f("POST", "/v1/knowledge-bases", huge, js, 413, "too_large", "")
	for _, contentType := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "application/xml", "json", ";", nd, js + "; charset=latin1",
	} {
		f("POST", "/v1/search", question, contentType, 415, "unsupported_media_type", "")
	}
	f("POST", "/v1/knowledge-bases/manuals/documents", `{"id": "a"}`, js, 400, "invalid_argument", "body")
	f("POST", "/v1/knowledge-bases/manuals/documents", `{"id": "a"}`, "text/plain", 415, "unsupported_media_type", "")
	f("PUT", "/v1/knowledge-bases/manuals/documents/d", `{"id": "a"}`, "", 415, "unsupported_media_type", "")
	f("GET", "/nowhere", "", "", 404, "not_found", "")
	f("GET", "/v1/search/", "", "", 404, "not_found", "")
	f("GET", "/V1/search", "", "", 404, "not_found", "")
	f("GET", "/docs", "", "", 404, "not_found", "")
	f("GET", "/<script>alert(1)</script>", "", "", 404, "not_found", "")
	f("GET", "/v1/knowledge-bases/manuals/chunks/a/b", "", "", 404, "not_found", "")
	f("GET", "/v1/knowledge-bases/manuals/chunks/%ff", "", "", 400, "invalid_argument", "id")
	f("GET", "/v1/knowledge-bases/%C3%28", "", "", 400, "invalid_argument", "kb")
	f("GET", "/v1/knowledge-bases?x=1", "", "", 400, "invalid_argument", "x")
	f("POST", "/v1/knowledge-bases/manuals/documents?refesh=true", "", nd, 400, "invalid_argument", "refesh")
	f("POST", "/v1/knowledge-bases/manuals/documents?refresh=maybe", "", nd, 400, "invalid_argument", "refresh")
	for _, limit := range []string{"0", "-1", "1001", "ten", "1e2", "99999999999999999999", ""} {
		f("GET", "/v1/knowledge-bases/manuals/documents?limit="+limit, "", "", 400, "invalid_argument", "limit")
	}
	f("GET", "/v1/knowledge-bases/manuals/documents?after=%ff", "", "", 400, "invalid_argument", "after")
	for _, method := range []string{"GET", "PUT", "OPTIONS", "TRACE", "PATCH"} {
		got := f(method, "/v1/search", "", "", 405, "method_not_allowed", "")
		if got.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow is %q, want POST", method, got.header.Get("Allow"))
		}
	}
	got := f("PATCH", "/v1/knowledge-bases/manuals", "", "", 405, "method_not_allowed", "")
	if got.header.Get("Allow") != "GET, HEAD, DELETE" {
		t.Errorf(`Allow is %q; want got.header.Get("Allow") "GET, HEAD, DELETE"`, got.header.Get("Allow"))
	}
	f("BREW", "/v1/search", "", "", 501, "not_implemented", "")
	compressed := g.ask("POST", "/v1/search", "\x1f\x8b", asJSON, "Content-Encoding: gzip")
	if compressed.status != 415 {
		t.Errorf("a compressed body: %d %s; want compressed.status 415", compressed.status, brief.Of(compressed.body))
	}
	long := g.ask("GET", "/healthz", "", "X-Long: "+strings.Repeat("a", 20_000))
	if p := long.problem(t); p.Code != "headers_too_large" {
		t.Errorf(`long headers: %d %s; want p.Code "headers_too_large"`, long.status, brief.Of(long.body))
	}
}

// Promise: "Every answer has an" (docs/guide/en/troubleshooting.md).
func TestRequestIDs(t *testing.T) {
	g := start(t, Options{})
	f := func(given string, kept bool) {
		t.Helper()
		got := g.ask("GET", "/healthz", "", "X-Request-Id: "+given).header.Values("X-Request-Id")
		if len(got) != 1 || got[0] == "" || (got[0] == given) != kept {
			t.Errorf("id %q came back as %q", given, got)
		}
	}
	f("abc-123_x.y:z", true)
	f("", false)
	f(strings.Repeat("a", 128), true)
	f(strings.Repeat("a", 129), false)
	f("a b", false)
	f("a;b\"c", false)
	f("退款", false)
	f("<script>", false)
}
