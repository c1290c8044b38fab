package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestDifyAsksEveryEngine replays what Dify sends to an external knowledge base.
// Covers Dify: search, filter.
func TestDifyAsksEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		ask := func(key, condition string, topK int) []map[string]any {
			t.Helper()
			text := b.as(key, http.MethodPost, "/dify/retrieval", `{"knowledge_id": "kb", "query": "refund order",
				"retrieval_setting": {"top_k": `+strconv.Itoa(topK)+`, "score_threshold": 0}, "metadata_condition": `+condition+`}`, http.StatusOK)
			var answer struct {
				Records []map[string]any `json:"records"`
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Records == nil {
				t.Fatalf("%s: %v; want no error and a answer.Records", text, err)
			}
			for _, r := range answer.Records {
				score, metadata := r["score"].(float64), r["metadata"].(map[string]any)
				if score < 0 || score > 1 || metadata["document_id"] == "" || r["content"] == "" || r["title"] == "" {
					t.Errorf(`record %v; want score at least 0 and score at most 1 and metadata["document_id"] other than "" and r["content"] other than "" and r["title"] other than ""`, r)
				}
			}
			return answer.Records
		}
		on := func(field, operator, value string, want int) {
			t.Helper()
			got := ask("root", `{"logical_operator": "and", "conditions": [
				{"name": ["`+field+`"], "comparison_operator": "`+operator+`", "value": `+value+`}]}`, 100)
			if len(got) != want {
				t.Errorf("%s %s %s: %d records, want %d", field, operator, value, len(got), want)
			}
		}
		f := func(operator, value string, want int) {
			t.Helper()
			on("mood", operator, value, want)
		}
		// 30 chunks are of mood m, 30 of mood m with the secret, and 30 have none.
		f("is", `"m"`, 30)
		f("is not", `"m"`, 60)
		f("contains", `"bert"`, 30)
		f("not contains", `"bert"`, 60)
		f("start with", `"m"`, 60)
		f("end with", `"secret"`, 30)
		f("empty", `null`, 30)
		f("not empty", `null`, 60)
		f("is", `null`, 90)
		// 60 chunks are of document both, and 30 of one that is named as the secret.
		on("document_name", "is", `"both"`, 60)
		on("document_name", "is not", `"both"`, 30)
		on("document_name", "contains", `"secret"`, 30)
		on("document_name", "start with", `"bo"`, 60)
		on("document_name", "in", `["both", "nothing"]`, 60)
		on("document_name", "empty", `null`, 0)
		on("document_id", "is", `"berts"`, 30)
		if got := ask("root", `{"conditions": [{"name": "document_name", "comparison_operator": "is", "value": "both"}]}`, 1); len(got) != 1 ||
			got[0]["title"] != "both" || got[0]["metadata"].(map[string]any)["document_name"] != "both" {
			t.Errorf("of one document %v", got)
		}
		if got := ask("root", "null", 100); len(got) != 90 {
			t.Errorf("without a condition %d records", len(got))
		}
		if got := ask("anna", "null", 100); len(got) != 30 || strings.Contains(fmt.Sprint(got), secret) {
			t.Errorf("to a bound key %d records; want 30 got and no secret in it", len(got))
		}
		if got := ask("root", `{"conditions": [{"name": "nowhere", "comparison_operator": "is", "value": "x"}]}`, 100); len(got) != 0 {
			t.Errorf("of an unknown field %d records; want no got", len(got))
		}
		if got := ask("root", "null", 3); len(got) != 3 {
			t.Errorf("of top_k 3 %d records; want 3 got", len(got))
		}
	})
}

// TestWhatDifyIsNotTold: below the threshold, without a key that may, and of others.
// Covers Dify: threshold, nothing found, wrong key, foreign tenant.
func TestWhatDifyIsNotTold(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		f := func(key, question, threshold string, status int, part string, want bool) {
			t.Helper()
			got, text := b.ask(key, "/dify/retrieval", `{"knowledge_id": "kb", "query": "`+question+`",
				"retrieval_setting": {"top_k": 3, "score_threshold": `+threshold+`}}`, "en")
			if got != status || strings.Contains(text, part) != want {
				t.Errorf("%s asks %q from %s: %d %s, want %d with %s: %t", key, question, threshold, got, text, status, part, want)
			}
		}
		const unknown = "In which order did the football teams of 1998 play?"
		f("root", "the refund of order 7", "0.0", http.StatusOK, `"content"`, true)
		f("root", "the refund of order 7", "0.9999", http.StatusOK, `"content"`, false)
		f("root", unknown, "0.0", http.StatusOK, `"content"`, true)
		f("root", unknown, "0.25", http.StatusOK, `{"records":[]}`, true)
		f("nobody", "refund", "0.0", http.StatusForbidden, `{"error_code":1002,`, true)
		f("", "refund", "0.0", http.StatusForbidden, `{"error_code":1001,`, true)
		f("rival", "refund", "0.0", http.StatusNotFound, `{"error_code":2001,"error_msg":"knowledge base \"kb\" does not exist"}`, true)
	})
}
