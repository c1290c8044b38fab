package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/cli"
)

// writings are what chunks of a knowledge base say of when they were: four of one moment, and others.
var writings = map[string]string{
	"z": `"2026-06-10T20:37:00Z"`, "plus": `"2026-06-10T22:37:00+02:00"`, "minus": `"2026-06-10 15:07-0530"`,
	"millis": `"2026-06-10T20:37:00.000"`, "day": `"2026-06-10"`, "later": `"2026-06-11T01:00:00Z"`, "never": `"2026-02-30"`, "number": `2026`,
}

// times makes a knowledge base of them. They were written at midnight of the day that the z is of, but for later.
func (b *bound) times() {
	b.t.Helper()
	b.as("root", http.MethodPost, "/v1/knowledge-bases", `{"id": "times", "dimensions": 0}`, http.StatusCreated)
	var lines strings.Builder
	for id, at := range writings {
		written := "2026-06-10T00:00:00Z"
		if id == "later" {
			written = "2026-06-11T02:00:00+02:00"
		}
		fmt.Fprintf(&lines, `{"id": %q, "document_id": %q, "content": "refund", "written_at": %q, "metadata": {"at": %s}}`+"\n", id, id, written, at)
	}
	b.as("root", http.MethodPost, cli.BasePath("times")+"/documents?refresh=true", lines.String(), http.StatusOK)
}

// found are the ids of chunks in an answer, in order.
func (b *bound) found(text string) string {
	b.t.Helper()
	var ids []string
	for id := range writings {
		for _, member := range []string{`"id":`, `"document_id":`, `"file_id":`} {
			if strings.Contains(text, member+`"`+id+`"`) {
				ids = append(ids, id)
				break
			}
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// doors are the searches of other programs for what is behind a moment.
var doors = map[string]string{
	"/dify/retrieval": `{"knowledge_id": "times", "query": "refund", "retrieval_setting": {"top_k": 50, "score_threshold": 0},
		"metadata_condition": {"conditions": [{"name": "at", "comparison_operator": ">", "value": "MOMENT"}]}}`,
	"/api/v1/retrieval": `{"question": "refund", "dataset_ids": ["times"], "similarity_threshold": 0, "page_size": 50,
		"metadata_condition": {"conditions": [{"name": "at", "comparison_operator": ">", "value": "MOMENT"}]}}`,
	"/v1/vector_stores/times/search": `{"query": "refund", "max_num_results": 50, "filters": {"type": "gt", "key": "at", "value": "MOMENT"}}`,
	"/multi-search":                  `{"queries": [{"indexUid": "times", "q": "refund", "filter": ["at > 'MOMENT'"]}]}`,
}

// TestTimesAreMomentsOnEveryEngine asks by each door for the same.
// Covers Dify: filter.
func TestTimesAreMomentsOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		b.times()
		own := func(filter, want string) {
			t.Helper()
			if got := b.found(b.as("root", http.MethodPost, "/v1/search",
				`{"query": "refund", "knowledge_bases": ["times"], "filter": `+filter+`, "copies": "keep"}`, http.StatusOK)); got != want {
				t.Errorf("%s: %s, want %s", filter, got, want)
			}
			deleted := b.as("root", http.MethodPost, cli.BasePath("times")+"/delete", `{"filter": `+filter+`, "dry_run": true}`, http.StatusOK)
			if n := b.count(deleted, "deleted"); n != len(strings.Fields(want)) {
				t.Errorf("%s would delete %d chunks, want %s", filter, n, want)
			}
		}
		const four, whole = "millis minus plus z", "day millis minus plus z"
		own(`{"at": {"lt": "2026-06-10T22:00:00+02:00"}}`, "day")
		own(`{"at": {"lt": "2026-06-10T20:00:00Z"}}`, "day")
		own(`{"at": {"gte": "2026-06-10T20:37Z", "lte": "2026-06-10T20:37Z"}}`, four)
		own(`{"at": {"lte": "2026-06-10"}}`, whole)
		own(`{"at": {"gt": "2026-06-10"}}`, "later")
		own(`{"at": {"gte": 2000}}`, "number")
		own(`{"not": {"at": {"lt": "2027"}}}`, "never number")
		own(`{"written_at": {"lte": "2026-06-10"}, "at": {"lte": "2026-06"}}`, whole)
		own(`{"written_at": {"gt": "2026-06-10T23:59:59-00:00"}}`, "later")
		own(`{"written_at": "2026-06-11T02:00:00+02:00"}`, "later")
		own(`{"written_at": ["2026-06-11", "2025"]}`, "later")
		own(`{"written_at": {"not": "2026-06-10"}}`, "later")

		for door, request := range doors {
			ask := func(moment string) string {
				t.Helper()
				_, text := b.ask("root", door, strings.Replace(request, "MOMENT", moment, 1), "en")
				return text
			}
			if got := b.found(ask("2026-06-10T22:36:59+02:00")); got != "later "+four {
				t.Errorf(`%s: %s; want got "later " + four`, door, got)
			}
			if got := b.found(ask("2026-06-10")); got != "later" {
				t.Errorf(`%s behind a day: %s; want got "later"`, door, got)
			}
			if got := ask("soon"); !strings.Contains(got, "a time in ISO 8601 as 2026-06-10 or") {
				t.Errorf("%s with what is no time: %s", door, got)
			}
		}
		for condition, want := range map[string]string{
			`"name": "at", "comparison_operator": "before", "value": "2026-06-10T20:37Z"`: "day number", // of which one is seconds since 1970
			`"name": "at", "comparison_operator": "after", "value": 1781123819`:           "later " + four,
			`"name": "written_at", "comparison_operator": "after", "value": "2026-06-10"`: "later",
			`"name": "written_at", "comparison_operator": "is", "value": "2026-06-11"`:    "later",
		} {
			_, text := b.ask("root", "/dify/retrieval", `{"knowledge_id": "times", "query": "refund", "retrieval_setting": {"top_k": 50,
				"score_threshold": 0}, "metadata_condition": {"conditions": [{`+condition+`}]}}`, "en")
			if got := b.found(text); got != want {
				t.Errorf("%s: %s, want %s", condition, got, want)
			}
		}
		for filter, refusal := range map[string]string{
			`{"at": {"lt": "yesterday"}}`:          `filter.at.lt is \"yesterday\"; it must be a number, or a time in ISO 8601 as 2026-06-10`,
			`{"at": {"gte": true}}`:                `filter.at.gte is true; it must be a number, or a time`,
			`{"at": {"gte": 5, "lt": "2026"}}`:     `filter.at.lt is \"2026\"; it must be a number or a time, like the other bound`,
			`{"written_at": {"gte": 1767225600}}`:  `filter.written_at.gte is 1767225600; it must be a time in ISO 8601 as`,
			`{"written_at": {"gt": "2026-02-30"}}`: `filter.written_at.gt is \"2026-02-30\"; it must be a time in ISO 8601 as`,
		} {
			text := b.as("root", http.MethodPost, cli.BasePath("times")+"/delete", `{"filter": `+filter+`}`, http.StatusBadRequest)
			if !strings.Contains(text, refusal) {
				t.Errorf("%s: %s, want %s", filter, text, refusal)
			}
		}
	})
}
