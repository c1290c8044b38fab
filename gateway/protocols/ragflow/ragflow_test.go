package ragflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

func TestRagflowRetrievalIsASearch(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		var asked ragflowRetrieval
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := asked.validate(); err != nil {
			got = err.Error()
		} else if req, err := asked.request(); err != nil {
			got = err.Error()
		} else if err := req.Validate(); err != nil {
			t.Errorf("%s: %v", brief.Of(body), err)
		} else {
			got = string(filter.JSON(told(req)))
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", brief.Of(body), got, want)
		}
	}
	const plain = `{"candidates":1024,"filter":null,"limit":30,"offset":0,"preset":"ragflow","rerank":"","score":null,"relevance":null,"weights":null}`
	with := func(member, value string) string {
		from := strings.Index(plain, `"`+member+`":`) + len(member) + 3
		to := from + strings.IndexAny(plain[from:], ",}")
		return plain[:from] + value + plain[to:]
	}
	of := func(more string) string { return `{"question": "q", "dataset_ids": ["manuals"]` + more + `}` }
	f(of(``), plain)
	f(of(`, "page": 3, "page_size": 10`), strings.Replace(with("offset", "20"), `"limit":30`, `"limit":10`, 1))
	f(of(`, "top_k": 20000`), with("candidates", "10000"))
	f(of(`, "similarity_threshold": 0.4`), with("score", "0.4"))
	f(of(`, "similarity_threshold": 0.4, "vector_similarity_weight": 0`), with("weights", `{"text":1,"vector":0}`))
	f(of(`, "vector_similarity_weight": 0.25`), with("weights", `{"text":0.75,"vector":0.25}`))
	f(of(`, "rerank_id": "bge"`), with("rerank", `"bge"`))
	f(of(`, "document_ids": ["d"], "similarity_threshold": 0.4`),
		strings.Replace(with("score", "0"), `"filter":null`, `"filter":{"document_id":["d"]}`, 1))
	f(of(`, "preset": "rrf", "similarity_threshold": 0.4`), strings.Replace(with("relevance", "0.4"), `"ragflow"`, `"rrf"`, 1))
	f(of(`, "metadata_condition": {"logic": "or", "conditions": [{"name": "a", "comparison_operator": "is", "value": "x"}]}`),
		with("filter", `{"a":["x"]}`))
	f(`{"question": "q"}`, "`dataset_ids` is required.")
	f(of(`, "top_k": 0`), "`top_k` must be greater than 0")
	f(of(`, "page": 0`), "page is 0; it must be 1 to 10000")
	f(of(`, "page_size": 101`), "page_size is 101; it must be 1 to 100")
	f(of(`, "similarity_threshold": -1`), "similarity_threshold is -1; it must be 0 to 1")
	f(of(`, "vector_similarity_weight": 1.5`), "vector_similarity_weight is 1.5; it must be 0 to 1")
}

// told is what a request says beside the question.
func told(req *search.Request) any {
	rerank := ""
	if req.Rerank != nil {
		rerank = req.Rerank.Name
	}
	return struct {
		Candidates *int               `json:"candidates"`
		Filter     filter.Expression  `json:"filter"`
		Limit      *int               `json:"limit"`
		Offset     *int               `json:"offset"`
		Preset     string             `json:"preset"`
		Rerank     string             `json:"rerank"`
		Score      *float64           `json:"score"`
		Relevance  *float64           `json:"relevance"`
		Weights    map[string]float64 `json:"weights"`
	}{
		req.Candidates, req.Filter, req.Limit, req.Offset, req.Preset, rerank,
		req.Threshold.Score, req.Threshold.Relevance, req.Weights,
	}
}
