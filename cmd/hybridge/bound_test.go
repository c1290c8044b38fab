package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// secret stands in everything that the chunks of bert say: nobody else may read it.
const secret = "bertsecret"

// sharedBase is a knowledge base on an engine with a document of two owners, whose chunks take turns and say
// the same but for the secret, and one of bert alone. Its keys are root, and anna, who is bound to her chunks; rival is of another tenant.
func sharedBase(t *testing.T, c *config.Config, more ...config.Key) *bound {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Soon [1].\"}}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(model.Close)
	c.Answer.URL, c.Answer.Model, c.Events.Enabled = model.URL, "scripted", true
	c.Keys = []config.Key{
		{Name: "root", Key: "root", Tenant: "default"},
		{Name: "rival", Key: "rival", Tenant: "rival"},
		{Name: "anna", Key: "anna", Tenant: "default", Filter: map[string]any{"owner": "anna", "metadata.team": "red"}},
	}
	c.Keys = append(c.Keys, more...)
	b := &bound{running: run(t, c)}
	b.as("root", http.MethodPost, "/v1/knowledge-bases", `{"id": "kb", "dimensions": 0}`, http.StatusCreated)
	var lines strings.Builder
	for i := range 60 {
		id, owner, more := fmt.Sprintf("a%d", i), "anna", ""
		if i%2 == 1 {
			id, owner, more = fmt.Sprintf("b%d", i), secret, secret
		}
		fmt.Fprintf(&lines, `{"id": %q, "document_id": "both", "document_name": "both", "ordinal": %d, "owner": %q,`+
			`"content": "the refund of order %d %s", "metadata": {"team": "red", "mood": %q}}`+"\n", id, i/2, owner, i, more, "m"+more)
		if i%2 == 1 {
			fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "berts", "document_name": %q, "ordinal": %d, "owner": %q,`+
				`"content": "the refund of order %d %s", "metadata": {"team": "red"}}`+"\n", i, secret, i, owner, i, more)
		}
	}
	b.as("root", http.MethodPost, cli.BasePath("kb")+"/documents?refresh=true", lines.String(), http.StatusOK)
	return b
}

type bound struct{ *running }

// send asks with a key.
func (b *bound) send(key, method, path, contentType, body string) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("X-API-Key", key)
	if body != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return b.sent(request)
}

func (b *bound) sent(request *http.Request) (int, string) {
	b.t.Helper()
	response, err := b.http.Do(request)
	if err != nil {
		b.t.Fatal(err) // which names the method and the address
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", request.Method, request.URL, err)
	}
	return response.StatusCode, string(text)
}

// as asks with a key, and wants a status.
func (b *bound) as(key, method, path, body string, want int) string {
	b.t.Helper()
	contentType := cli.AsJSON
	if strings.Contains(path, "/documents") {
		contentType = cli.AsNDJSON
	}
	status, text := b.send(key, method, path, contentType, body)
	if status != want {
		b.t.Errorf("%s: %s %s: %d %s, want %d", key, method, path, status, text, want)
	}
	return text
}

func (b *bound) search(key string, request map[string]any) *search.Response {
	b.t.Helper()
	request["knowledge_bases"] = []string{"kb"}
	body, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	var response search.Response
	if err := json.Unmarshal([]byte(b.as(key, http.MethodPost, "/v1/search", string(body), http.StatusOK)), &response); err != nil {
		b.t.Fatal(err)
	}
	return &response
}

// onEachEngine runs a test on every engine.
func onEachEngine(t *testing.T, test func(t *testing.T, b *bound)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, sharedBase(t, settingsIn(t.TempDir())))
	})
	t.Run("elasticsearch", func(t *testing.T) {
		t.Parallel()
		c := settingsIn(t.TempDir())
		c.DefaultEngine, c.Elasticsearch.URL = "elasticsearch", []string{""}
		c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
		test(t, sharedBase(t, c))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		c := settingsIn(t.TempDir())
		c.DefaultEngine, c.Postgres.URL = "postgres", devservices.NewDatabase(t).URL
		test(t, sharedBase(t, c))
	})
}

// Neighbours and counts are of what passes the filter and is the user's, like the hits.
func TestNeighboursAndFacetsKeepTheFilter(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		f := func(key string, request map[string]any, neighbours int) {
			t.Helper()
			request["query"], request["neighbours"], request["top_k"] = "refund order", 3, 60
			request["facets"], request["facet_mode"] = []string{"owner", "mood"}, "disjunctive"
			r := b.search(key, request)
			text, err := json.Marshal(r)
			if err != nil || strings.Contains(string(text), secret) || len(r.Hits) != 30 {
				t.Errorf("%s %v: %d hits, %v: %s; want no error and no secret in it and 30 r.Hits", key, request, len(r.Hits), err, brief.Of(text))
			}
			found := 0
			for _, hit := range r.Hits {
				found = max(found, len(hit.Neighbours))
			}
			if found != neighbours {
				t.Errorf("%s %v: at most %d neighbours, want %d", key, request, found, neighbours)
			}
			want := []search.FacetCount{{Value: "anna", Count: 30}}
			if !slices.Equal(r.Facets["owner"], want) || len(r.Facets["mood"]) != 1 {
				t.Errorf("%s %v: facets %+v", key, request, r.Facets)
			}
		}
		f("root", map[string]any{"user": "anna"}, 6)
		f("root", map[string]any{"filter": map[string]any{"mood": "m", "document_id": "both"}, "user": "anna"}, 6)
		f("anna", map[string]any{}, 6)
		f("anna", map[string]any{"filter": map[string]any{"owner": map[string]any{"exists": true}}}, 6)
		f("anna", map[string]any{"filter": map[string]any{"metadata.team": "red"}}, 6)
		if r := b.search("anna", map[string]any{"query": "refund", "user": secret}); len(r.Hits) > 0 {
			t.Errorf("another's user: %d hits; want len(r.Hits) 0", len(r.Hits))
		}
	})
}

// boundOperation is what the document says of a route that bound keys are tried on.
type boundOperation struct {
	OperationID string `json:"operationId"`
	RequestBody struct {
		Content map[string]struct {
			Example json.RawMessage `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
}

// unreached are operations that answer 400 or 404 to whatever a bound key asks here, and why.
var unreached = map[string]string{
	"openai-embeddings": "there is no embedding model here, whose answers come from the question alone",
	"measure-recall":    "the knowledge base has no vectors here, and the answer is shares of hits and no text",
}

// TestBoundKeysOnEveryRoute calls every route of the document with a key that is bound to a filter, about chunks
// within and outside of it. Each route is reached: one of its answers is neither 400 nor 404.
//
// Promise: "It is added to every route" (docs/guide/en/keys.md).
// Promise: "A pin never shows" (docs/guide/en/synonyms.md).
func TestBoundKeysOnEveryRoute(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		var document struct {
			Paths map[string]map[string]boundOperation `json:"paths"`
		}
		if err := json.Unmarshal([]byte(b.as("anna", http.MethodGet, "/openapi.json", "", http.StatusOK)), &document); err != nil {
			t.Fatal(err)
		}
		others := b.as("root", http.MethodGet, cli.BasePath("kb")+"/documents/berts?limit=1000", "", http.StatusOK)
		names := b.settles()
		for _, method := range []string{"get", "post", "put", "patch", "delete"} { // what deletes comes last
			for _, path := range slices.Sorted(maps.Keys(document.Paths)) { // chunks before their documents
				op, found := document.Paths[path][method]
				if !found {
					continue
				}
				reached := b.reaches(method, names.Replace(path), &op)
				if why, listed := unreached[op.OperationID]; listed == reached {
					t.Errorf("%s is reached: %v; listed as unreached: %q", op.OperationID, reached, why)
				}
			}
		}
		if now := b.as("root", http.MethodGet, cli.BasePath("kb")+"/documents/berts?limit=1000", "", http.StatusOK); now != others {
			t.Errorf("another's document was changed: %.300s", now)
		}
		for i := 1; i < 60; i += 2 {
			b.as("root", http.MethodGet, fmt.Sprintf("%s/chunks/b%d", cli.BasePath("kb"), i), "", http.StatusOK)
		}
	})
}

// settles makes something of each kind that paths name, and gives the names.
func (b *bound) settles() *strings.Replacer {
	b.t.Helper()
	made := func(method, path, body string, want int) string {
		b.t.Helper()
		var answer struct{ ID, Job string }
		_ = json.Unmarshal([]byte(b.as("root", method, path, body, want)), &answer) // nothing where it is a 204
		return cmp.Or(answer.Job, answer.ID)
	}
	made(http.MethodPut, "/v1/rules/kb", `{"rules": [{"name": "r", "when": {"match": "contains", "queries": ["refund"]},
		"pin": [{"chunk_id": "b1"}, {"chunk_id": "c1"}, {"document_id": "berts"}], "hide": [{"document_id": "`+secret+`"}]}]}`, 200)
	made(http.MethodPut, "/v1/synonyms/kb", `{"text": "refund, money back"}`, 200)
	made(http.MethodPut, "/v1/presets/mine", `{"definition": {"base": "rrf"}}`, 200)
	var queries, judgments string
	for i := range 5 {
		comma := strings.Repeat(",", min(i, 1))
		queries += comma + fmt.Sprintf(`{"id": "q%d", "text": "refund %d %s"}`, i, i, secret)
		judgments += comma + fmt.Sprintf(`{"query_id": "q%d", "knowledge_base": "kb", "document_id": "berts", "grade": 1, "note": %q}`, i, secret)
	}
	made(http.MethodPut, "/v1/query-sets/questions", `{"knowledge_bases": ["kb"]}`, 200)
	made(http.MethodPost, "/v1/query-sets/questions/queries", `{"queries": [`+queries+`]}`, 200)
	made(http.MethodPut, "/v1/judgments/judged", `{"query_set": "questions"}`, 200)
	made(http.MethodPost, "/v1/judgments/judged/judgments", `{"judgments": [`+judgments+`]}`, 200)
	evaluation := made(http.MethodPost, "/v1/evaluations", `{"query_set": "questions", "judgments": "judged", "systems":
		[{"name": "text", "request": {"query": "", "knowledge_bases": ["kb"], "preset": "text"}}]}`, 202)
	tuning := made(http.MethodPost, "/v1/tunings", `{"query_set": "questions", "judgments": "judged", "knowledge_base": "kb", "trials": 1}`, 202)
	made(http.MethodPost, "/v1/experiments", `{"id": "tried", "knowledge_bases": ["kb"], "traffic": 1, "unit": "user", "mode": "split",
		"start": "2030-01-01T00:00:00Z", "end": "2030-02-01T00:00:00Z",
		"variants": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5, "request": {"preset": "text"}}]}`, 201)
	made(http.MethodPost, "/v1/keys", `{"name": "website"}`, 201)
	plan := made(http.MethodPost, "/v1/mappings/kb/plan", `{"changes": {"fields": {"title": 3}}}`, 201)
	job := made(http.MethodPost, "/v1/mappings/kb/apply", `{"plan": "`+plan+`"}`, 202)
	return strings.NewReplacer("{kb}", "kb", "{set}", "questions", "{list}", "judged", "{evaluation}", evaluation, "{tuning}", tuning,
		"{experiment}", "tried", "{job}", job, "/keys/{name}", "/keys/website", "{name}", "mine")
}

// reaches asks an operation with the bodies that it is known for and with the example of the document.
func (b *bound) reaches(method, path string, op *boundOperation) (reached bool) {
	b.t.Helper()
	if len(op.RequestBody.Content) == 0 {
		return b.probe(method, path, "", "")
	}
	for contentType, content := range op.RequestBody.Content {
		for _, body := range bodiesOf(op.OperationID) {
			reached = b.probe(method, path, contentType, body) || reached
		}
		if content.Example != nil {
			body := strings.NewReplacer("manuals", "kb", "2026-01-01T00:00:00Z", time.Now().UTC().Format(time.RFC3339)).
				Replace(string(content.Example))
			reached = b.probe(method, path, contentType, body) || reached
		}
	}
	return reached
}

// bodiesOf are those that a route is asked with: within the filter and outside of it.
func bodiesOf(operation string) []string {
	const question = `"query": "refund order", "knowledge_bases": ["kb"], "neighbours": 20, "facets": ["owner", "mood"]`
	switch operation {
	case "write-chunks", "replace-document":
		return []string{
			`{"id": "b1", "document_id": "both", "content": "mine now", "owner": "anna", "metadata": {"team": "red"}}`,
			`{"id": "n1", "document_id": "both", "content": "no owner"}`,
			`{"id": "n2", "document_id": "both", "content": "not hers", "owner": "bert", "metadata": {"team": "red"}}`,
		}
	case "explain":
		return []string{`{` + question + `, "chunk_id": "b1"}`, `{` + question + `, "chunk_id": "a2"}`}
	case "search":
		return []string{
			`{` + question + `}`,
			`{` + question + `, "user": "` + "bert" + `"}`,
			`{` + question + `, "filter": {"owner": {"not": "anna"}}}`,
			`{` + question + `, "filter": {"owner": {"exists": true}}, "facet_mode": "disjunctive", "explain": true}`,
			`{` + question + `, "filter": {"any_of": [{"owner": "bert"}, {"not": {"owner": "anna"}}, {"mood": {"exists": true}}]}}`,
			`{` + question + `, "filter": {"not": {"owner": "anna"}}, "facet_mode": "disjunctive", "facets": ["owner"]}`,
			`{` + question + `, "copies": "fold", "group_by": "document_id"}`,
		}
	case "dify-retrieval":
		return []string{
			`{"knowledge_id": "kb", "query": "refund order", "retrieval_setting": {"top_k": 60, "score_threshold": 0}}`,
			`{"knowledge_id": "kb", "query": "refund order", "metadata_condition": {"conditions": [
				{"name": "owner", "comparison_operator": "is not", "value": "anna"}]}}`,
		}
	case "ragflow-retrieval":
		return []string{
			`{"dataset_ids": ["kb"], "question": "refund order", "similarity_threshold": 0, "page_size": 60}`,
			`{"dataset_ids": ["kb"], "question": "refund order", "document_ids": ["berts", "both"]}`,
		}
	case "mcp":
		calls := []string{}
		for _, call := range []string{
			`"search", "arguments": {"query": "refund order", "top_k": 50, "min_relevance": 0}`,
			`"search", "arguments": {"query": "refund order", "filter": {"owner": {"not": "anna"}}, "min_relevance": 0}`,
			`"read", "arguments": {"knowledge_base": "kb", "chunk_id": "b1", "around": 20}`,
			`"read", "arguments": {"knowledge_base": "kb", "chunk_id": "a2", "around": 20}`,
			`"explain", "arguments": {"knowledge_base": "kb", "chunk_id": "b1", "query": "refund order"}`,
			`"list_knowledge_bases"`,
		} {
			calls = append(calls, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": `+call+`}}`)
		}
		const read = `{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "hybridge://documents/kb/`
		return append(calls, `{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}`, read+`berts"}}`, read+`both"}}`)
	case "search-batch":
		return []string{`{"searches": [{` + question + `}, {` + question + `, "filter": {"owner": {"not": "anna"}}}]}`}
	case "patch-document":
		return []string{`{"metadata": {"seen": true}}`, `{"metadata": {"team": "blue"}}`, `{"metadata": {"team": null}}`}
	case "delete-by-filter":
		return []string{
			`{"filter": {"document_id": "berts"}}`, `{"filter": {"owner": {"not": "anna"}}}`,
			`{"filter": {"owner": {"exists": true}}, "dry_run": true}`,
		}
	case "upload-file":
		return []string{"a text"}
	default:
		return nil
	}
}

// probe asks anna's way about both owners' documents and chunks, and looks for the secret in the answer. It
// reports whether an answer was more than that the question is wrong or its object not there.
func (b *bound) probe(method, path, contentType, body string) (reached bool) {
	b.t.Helper()
	for _, about := range [][2]string{{"both", "a0"}, {"both", "b1"}, {"berts", "c1"}, {"new", "new"}} {
		address := strings.NewReplacer("{document}", about[0], "{id}", about[1]).Replace(path)
		if strings.HasSuffix(path, "/files") {
			address += "?name=" + about[0] + ".md"
		}
		status, text := b.send("anna", strings.ToUpper(method), address, contentType, body)
		if strings.Contains(text, secret) {
			b.t.Errorf("%s %s %s: %d with another's text: %.500s; want no secret in it", method, address, brief.Of(body), status, text)
		}
		if status >= http.StatusInternalServerError {
			b.t.Errorf("%s %s %s: %d %s; want status below StatusInternalServerError", method, address, brief.Of(body), status, text)
		}
		if status != http.StatusBadRequest && status != http.StatusNotFound && status != http.StatusUnsupportedMediaType {
			reached = true
		}
		if address == path {
			break // it names none of them
		}
	}
	return reached
}

func TestWritesOfBoundKeys(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		const kb = "/v1/knowledge-bases/kb"
		f := func(method, path, body string, status int, parts ...string) {
			t.Helper()
			text := b.as("anna", method, kb+path, body, status)
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s %s: no %q in %s", method, path, part, text)
				}
			}
		}
		const hers = `"owner": "anna", "metadata": {"team": "red"}}`
		f("POST", "/documents", `{"id": "b1", "document_id": "both", "content": "x", `+hers+"\n"+
			`{"id": "n1", "document_id": "both", "content": "x", "metadata": {"team": "red"}}`+"\n"+
			`{"id": "n2", "document_id": "both", "content": "x", "owner": "anna", "metadata": {"team": "green"}}`+"\n"+
			`{"id": "n3", "document_id": "mine", "content": "x", `+hers, 200,
			`"id":"b1","line":1,"status":"failed","error":{"code":"forbidden","field":"id"`,
			`"field":"owner"`, `"field":"metadata.team"`, `{"id":"n3","line":4,"status":"created"}`)
		f("PUT", "/documents/both", `{"id": "n4", "content": "x", `+hers, 403, `"field":"document"`)
		f("PUT", "/documents/mine", `{"id": "n4", "content": "x", `+hers+"\n"+`{"id": "n5", "content": "x"}`, 403, "line 2")
		f("PUT", "/documents/mine?refresh=true", `{"id": "n4", "content": "x", `+hers, 200, `"created"`)
		f("GET", "/documents/berts", "", 404)
		f("GET", "/documents/both?limit=3", "", 200, `"id":"a4"`, `"next":"a4"`)
		f("GET", "/documents/both?limit=3&after=a4", "", 200, `"id":"a6"`)
		f("GET", "/documents/both?after=b1", "", 404)
		f("GET", "/documents?limit=1", "", 200, `{"document_id":"both","document_name":"both","chunks":30,"written_at":"2`, `"next":"both"`)
		f("GET", "/documents?limit=1&after=both", "", 200, `"document_id":"mine"`)
		f("DELETE", "/chunks/b1", "", 404)
		f("DELETE", "/chunks/a0", "", 200)
		f("DELETE", "/documents/berts", "", 404)
		f("DELETE", "/documents/both", "", 200, `{"deleted":29}`)
		f("DELETE", "", "", 403)
		for name, want := range map[string]int{"hers.md": 200, "berts": 400} {
			if status, text := b.send("anna", "POST", kb+"/files?name="+name, "application/octet-stream", "# A\n\ntext"); status != want {
				t.Errorf("file %s: %d %s", name, status, text)
			}
		}
		f("GET", "/documents/hers.md", "", 200, `"owner":"anna"`, `"team":"red"`)
	})
}
