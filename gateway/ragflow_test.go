package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestRagflowErrorsHaveItsForm(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}})
	const path = "/api/v1/retrieval"
	f := func(method, path, body, auth string, status int, want string) {
		t.Helper()
		got := g.ask(method, path, body, asJSON, "Authorization: "+auth)
		if got.status != status || !strings.Contains(got.body, want) {
			t.Errorf("%s %.80s: %d %s, want %d with %s", path, body, got.status, brief.Of(got.body), status, want)
		}
		if got.header.Get("Content-Type") != "application/json" {
			t.Errorf(`%.80s: Content-Type %q; want got.header.Get("Content-Type") "application/json"`, body, got.header.Get("Content-Type"))
		}
	}
	const good = "Bearer k1"
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "use_kg": false, "cross_languages": null, "rerank_id": null}`, good, 200, `"code":0`)
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "highlight": "true"}`, good, 200, `"code":0`)
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "highlight": false}`, good, 200, `"doc_aggs":[`)
	f("POST", path, `{"question": " ", "dataset_ids": ["manuals"]}`, good, 200, `{"code":0,"data":{"chunks":[],"doc_aggs":{},"total":0}}`)
	f("POST", path, `{"question": "q"}`, good, 200, `{"code":102,"message":"`+"`dataset_ids` is required."+`"}`)
	f("POST", path, `{"question": 1, "dataset_ids": ["manuals"]}`, good, 200, `"code":102`)
	f("POST", path, `{`, good, 200, `"code":102`)
	f("POST", path, `[]`, good, 200, `"code":102`)
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "preset": "x"}`, good, 200, `"code":0`) // the fake knows all
	f("POST", path, `{"question": "`+strings.Repeat("a", 1<<20)+`", "dataset_ids": ["manuals"]}`, good, 200, `"code":`)
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "rerank_id": "rrf", "vector_similarity_weight": 0.3}`, good, 200, `"code":0`)
	if r := g.searched; r.Preset != "rrf" || r.Rerank != nil || r.Weights != nil {
		t.Errorf(`by a preset for a reranker it asks %+v; want r.Preset "rrf" and no r.Rerank and no r.Weights`, r)
	}
	f("POST", path, `{"question": "q", "dataset_ids": ["manuals"], "rerank_id": "bge"}`, good, 200, `"code":0`)
	if r := g.searched; r.Preset != "ragflow" || r.Rerank.Name != "bge" {
		t.Errorf(`by a reranker it asks %+v; want r.Preset ragflow and r.Rerank.Name "bge"`, r)
	}
	f("POST", path, `{}`, "Bearer nobody", 401, `{"code":401,`)
	f("GET", "/api/v1/datasets?desc=True&unknown=1&ids=a&ids=b", ``, good, 200, `{"code":0,"data":[]}`)
	f("GET", "/api/v1/datasets?id=nothing", ``, good, 200, `{"code":102,"message":"You don't own the dataset nothing."}`)
	f("GET", "/api/v1/datasets?page_size=101", ``, good, 200, `"code":102`)
}
