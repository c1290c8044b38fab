package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

func TestConditionsOfOtherProgramsAreFilters(t *testing.T) {
	f := func(logic, conditions, want string) {
		t.Helper()
		var list []metadataCondition
		if err := json.Unmarshal([]byte(conditions), &list); err != nil {
			t.Fatal(err)
		}
		filter, err := filterOf("logical_operator", logic, list)
		got := string(text(filter))
		if err != nil {
			got = err.Error()
		} else if _, err := search.ParseFilter(filter); err != nil {
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

func TestDifyRetrieval(t *testing.T) {
	g := start(t, Options{Keys: []endpoint.Key{key("k1", "acme"), key("k2", "acme", "other")}})
	const path = "/dify/retrieval"
	f := func(body, auth string, status int, contains string) {
		t.Helper()
		got := g.ask("POST", path, body, asJSON, "Authorization: "+auth)
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%.80s: %d %s, want %d with %s", body, got.status, brief.Of(got.body), status, contains)
		}
		if got.header.Get("Content-Type") != "application/json" {
			t.Errorf(`%.80s: Content-Type %q; want got.header.Get("Content-Type") "application/json"`, body, got.header.Get("Content-Type"))
		}
		var told DifyError
		if err := json.Unmarshal([]byte(got.body), &told); status != 200 && (err != nil || told.Code == 0 || told.Message == "") {
			t.Errorf("%.80s: %s is no error of Dify: %v", body, brief.Of(got.body), err)
		}
	}
	const good = "Bearer k1"
	f(`{"knowledge_id": "manuals", "query": "refund", "retrieval_setting": {"top_k": 2, "score_threshold": 0.0},
		"metadata_condition": null, "of_a_later_dify": 1}`, good, 200, `"document_id":"d`)
	if r := g.searched; *r.TopK != 2 || !r.Plain || r.Threshold.Relevance != nil || len(r.KnowledgeBases) != 1 {
		t.Errorf("asked %+v; want *r.TopK 2 and r.Plain and no r.Threshold.Relevance and 1 r.KnowledgeBases", r)
	}
	f(`{"knowledge_id": "manuals, manuals", "query": "refund", "retrieval_setting": {"score_threshold": 1},
		"metadata_condition": {"logical_operator": "and", "conditions": [
			{"name": ["mood"], "comparison_operator": "is", "value": "m"}]}}`, good, 200, `"score":1,`)
	if r := g.searched; *r.Threshold.Relevance != 1 || len(r.KnowledgeBases) != 2 || string(r.Filter["mood"]) != `["m"]` {
		t.Errorf("asked %+v; want *r.Threshold.Relevance 1 and 2 r.KnowledgeBases and string(r.Filter[\"mood\"]) `[\"m\"]`", r)
	}
	// Where relevance is unknown, what a record says is the score, and the threshold is of what is said.
	g.canned = cannedResponse(2)
	g.canned.Hits[0].Score, g.canned.Hits[1].Score = 0.75, 0.5
	for threshold, want := range map[string]int{"0.5": 2, "0.5000001": 1, "0.75": 1, "0.7500001": 0} {
		got := g.ask("POST", path, `{"knowledge_id": "manuals", "query": "refund", "retrieval_setting": {"score_threshold": `+threshold+`}}`,
			asJSON, "Authorization: "+good)
		if n := strings.Count(got.body, `"score":`); got.status != 200 || n != want {
			t.Errorf("records of %s and more: %d, want %d: %s", threshold, n, want, brief.Of(got.body))
		}
	}
	g.canned = nil
	question := `{"knowledge_id": "manuals", "query": "refund"}`
	f(question, "", 403, `{"error_code":1001,`)
	f(question, "k1", 403, `{"error_code":1001,`)
	f(question, "Bearer wrong", 403, `{"error_code":1002,`)
	f(question, "Bearer k2", 404, `{"error_code":2001,`)
	f(`{"knowledge_id": "nothing", "query": "refund"}`, good, 404, `{"error_code":2001,"error_msg":"knowledge base \"nothing\" does not exist"}`)
	f(`{"knowledge_id": " ,", "query": "refund"}`, good, 400, `"error_msg":"knowledge_id is`)
	f(`{"query": 5}`, good, 400, `{"error_code":400,"error_msg":"query is a number; it must be a string"}`)
	f(`{"knowledge_id": "manuals", "query": "a", "retrieval_setting": {"score_threshold": 2}}`, good, 400, `it must be 0 to 1`)
	f(`{"knowledge_id": "manuals", "query": "a", "metadata_condition": {"conditions": [{"name": 5}]}}`, good, 400, `metadata_condition.conditions[0].name`)
	f(`{"knowledge_id": "manuals", "query": "`+strings.Repeat("a", 1<<20)+`"}`, good, 413, `{"error_code":413,`)
	chinese := g.ask("POST", path, `{"query": 5}`, asJSON, "Authorization: "+good, "Accept-Language: zh")
	if !strings.ContainsFunc(chinese.body, isHan) {
		t.Errorf("to a Chinese reader %s", brief.Of(chinese.body))
	}
}
