package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/mcp"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// agent is connected to a gateway.
type agent struct {
	*sdk.ClientSession
	t *testing.T
}

func agentOf(g *gatewayUnderTest, key string) *agent {
	g.t.Helper()
	t := g.t.(*testing.T)
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: g.url + "/mcp", DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: withKey{key, g.client.Transport}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &agent{session, t}
}

type withKey struct {
	key  string
	next http.RoundTripper
}

func (w withKey) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+w.key)
	return w.next.RoundTrip(request)
}

// call calls a tool, whose output it decodes.
func (a *agent) call(tool string, arguments, into any) (text string, failed bool) {
	a.t.Helper()
	result, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatal(err)
	}
	if into != nil && !result.IsError {
		encoded, _ := json.Marshal(result.StructuredContent)
		if err := json.Unmarshal(encoded, into); err != nil {
			a.t.Errorf("%s gives %s: %v", tool, brief.Of(encoded), err)
		}
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

type arguments map[string]any

func TestAgentsHaveFourTools(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}, Version: "v1"})
	a := agentOf(g, "k1")
	if known := a.InitializeResult(); known.ServerInfo.Name != "hybridge" || known.Instructions == "" {
		t.Errorf(`it introduces itself by %+v; want known.ServerInfo.Name "hybridge" and known.Instructions other than ""`, known)
	}
	listed, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.OutputSchema == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf(`%s is described by %+v; want tool.Description other than "" and a tool.OutputSchema and tool.Annotations.ReadOnlyHint`, tool.Name, tool)
		}
	}
	if strings.Join(names, " ") != "explain list_knowledge_bases read search" {
		t.Errorf(`the tools are %v; want strings.Join(names, " ") "explain list_knowledge_bases read search"`, names)
	}

	var found mcp.Found
	text, failed := a.call("search", arguments{"query": "refund"}, &found)
	if failed || len(found.Results) == 0 || !strings.Contains(text, "[1] guide.md, page 1") || !strings.Contains(text, sample) {
		t.Errorf(`search gives %s; want not failed and some found.Results and "[1] guide.md, page 1" in it and sample in it`, text)
	}
	if len(found.Notes) != 1 || !strings.Contains(text, "embedding service unavailable") {
		t.Errorf("what the search did without is not told: %q, %s", found.Notes, text)
	}
	first := found.Results[0]
	if first.ChunkID != chunkID || first.KnowledgeBase != base || first.Text != sample || *first.Page != 1 {
		t.Errorf("the first result is %+v; want first.ChunkID chunkID and first.KnowledgeBase base and first.Text sample and *first.Page 1", first)
	}
	var read mcp.Passages
	if text, failed = a.call("read", arguments{"knowledge_base": base, "chunk_id": chunkID}, &read); failed ||
		!strings.Contains(text, "From guide.md") || read.Chunks[0].Text != sample || read.Document != first.Document {
		t.Errorf("read gives %s, %+v", text, read)
	}
	var bases mcp.Bases
	if text, failed = a.call("list_knowledge_bases", nil, &bases); failed || bases.KnowledgeBases[0].ID != base {
		t.Errorf("list_knowledge_bases gives %s, %+v; want not failed and bases.KnowledgeBases[0].ID base", text, bases)
	}
	var explained mcp.Explained
	if text, failed = a.call("explain", arguments{"query": "refund", "knowledge_base": base, "chunk_id": chunkID}, &explained); failed ||
		explained.Outcome == "" || !strings.Contains(text, explained.Detail) {
		t.Errorf("explain gives %s, %+v", text, explained)
	}
	if !strings.Contains(g.log.String(), `"tool":"explain"`) {
		t.Error("the log does not name the tool")
	}
}

func TestDocumentsAreResources(t *testing.T) {
	a := agentOf(start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}}), "k1")
	var uris []string
	for resource, err := range a.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, resource.URI)
	}
	if len(uris) != 3 {
		t.Errorf("the documents are %q; want 3 uris", uris)
	}
	read, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.DocumentURI(base, "a/b c+ü.md")})
	if err != nil || read.Contents[0].MIMEType != mcp.PlainText {
		t.Errorf("reading a document: %+v, %v; want no error and read.Contents[0].MIMEType plainText", read, err)
	}
	for _, uri := range []string{mcp.DocumentURI("nowhere", "a"), "hybridge://documents/" + base, "file:///etc/passwd", "hybridge://x/y/z"} {
		if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf(`%s: %v; want an error and "not found" in it`, uri, err)
		}
	}
	if _, err := a.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "?"}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf(`a wrong cursor: %v; want an error and "cursor" in it`, err)
	}
}

func TestWrongCallsAreToldToAgents(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme"), key("k2", "acme", "other")}}})
	a := agentOf(g, "k1")
	f := func(tool string, in arguments, want string) {
		t.Helper()
		if text, failed := a.call(tool, in, nil); !failed || !strings.Contains(text, want) {
			t.Errorf("%s %.100v: %.200s, want %s", tool, in, text, want)
		}
	}
	f("search", arguments{}, "query")
	f("search", arguments{"query": "a", "top_k": 0}, "top_k")
	f("search", arguments{"query": "a", "top_k": 10_001}, "top_k")
	f("search", arguments{"query": "a", "min_relevance": 2}, "min_relevance")
	f("search", arguments{"query": "a", "unknown": 1}, "unknown")
	f("search", arguments{"query": "a", "knowledge_bases": []string{"nowhere"}}, "nowhere")
	f("read", arguments{"knowledge_base": "nowhere", "chunk_id": "c"}, "nowhere")
	f("read", arguments{"knowledge_base": base, "chunk_id": "panic"}, "log says why")
	f("explain", arguments{"query": "a", "knowledge_base": "nowhere", "chunk_id": "c"}, "nowhere")
	stranger := agentOf(g, "k2")
	if text, failed := stranger.call("search", arguments{"query": "a"}, nil); !failed || !strings.Contains(text, "there are 0") {
		t.Errorf("without any knowledge base: %s", text)
	}
	if !strings.Contains(g.log.String(), "of the work") {
		t.Error("the log lacks the panic")
	}
	g.answer = func(context.Context) error { return fault.New(fault.Unavailable, "away") }
	f("search", arguments{"query": "a", "knowledge_bases": []string{base}}, "away")
}

func TestMessagesThatAreRefused(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}, Limits: endpoint.Limits{JSONBytes: 1000}}})
	f := func(body, key string, status int, contains string) {
		t.Helper()
		got := g.ask("POST", "/mcp", body, asJSON, "Authorization: "+key, "Accept: application/json, text/event-stream")
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%.80s: %d %s, want %d with %s", body, got.status, brief.Of(got.body), status, contains)
		}
	}
	const ping = `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`
	f(ping, "Bearer k1", 200, `"id":1`)
	f(ping, "Bearer nobody", 401, `"code":-32000`)
	f("["+ping+"]", "Bearer k1", 400, `"code":-32600`)
	f(`{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "`+strings.Repeat("a", 1000)+`"}}`, "Bearer k1", 413, "too_large")
	f(`{`, "Bearer k1", 400, "")
	f(`{}`, "Bearer k1", 400, "")
	f(`{"jsonrpc": "2.0", "id": 1, "method": "unknown"}`, "Bearer k1", 400, "unsupported")
	if got := g.ask("GET", "/mcp", "", ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d %s; want got.status StatusMethodNotAllowed", got.status, brief.Of(got.body))
	}
}
