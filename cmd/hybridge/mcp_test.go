package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hybridge-search/hybridge/internal/cli"
)

// agentBeside runs `hybridge mcp` with these arguments beside an agent that started it.
func agentBeside(t *testing.T, folder string, args ...string) *mcp.ClientSession {
	t.Helper()
	toServer, fromAgent := io.Pipe()
	toAgent, fromServer := io.Pipe()
	complaints := &journal{}
	p := &cli.Program{
		Groups: groups,
		Stdin:  toServer, Stdout: fromServer, Stderr: complaints, Environ: []string{"HYBRIDGE_DATA_DIR=" + folder},
	}
	ended := make(chan int, 1)
	go func() {
		code := p.Run(context.WithoutCancel(t.Context()), append([]string{"mcp"}, args...))
		_ = fromServer.Close()
		ended <- code
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	agent, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toAgent, Writer: fromAgent}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	t.Cleanup(func() {
		_ = agent.Close()
		_ = fromAgent.Close()
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("hybridge mcp ended with %d: %s; want code exitOK", code, complaints.String())
		}
	})
	return agent
}

// calls a tool, and gives the text of its answer and its chunk ids.
func calls(t *testing.T, agent *mcp.ClientSession, tool string, arguments map[string]any) (text, ids string) {
	t.Helper()
	result, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text = result.Content[0].(*mcp.TextContent).Text
	var output struct {
		Results, Chunks []struct {
			ID string `json:"chunk_id"`
		}
	}
	encoded, err := json.Marshal(result.StructuredContent)
	if err == nil && string(encoded) != "null" {
		err = json.Unmarshal(encoded, &output)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range append(output.Results, output.Chunks...) {
		ids += chunk.ID + " "
	}
	return text, strings.TrimSpace(ids)
}

// Without a gateway there is one for the time of the agent.
func TestAgentsNeedNoGateway(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := command{t: t, folder: folder}
	c.want(cli.ExitOK, "", "kb create manuals", "created manuals")
	var lines strings.Builder
	for i := range 9 {
		fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "d", "ordinal": %d, "content": "part %d of the text", "available": %t}`+"\n", i, i, i, i != 5)
	}
	lines.WriteString(`{"id": "x", "document_id": "other", "content": "a refund takes a week"}` + "\n")
	c.want(cli.ExitOK, lines.String(), "ingest --kb manuals -", "10 created")
	agent := agentBeside(t, folder)
	if text, ids := calls(t, agent, "search", map[string]any{"query": "refund"}); ids != "x" || !strings.Contains(text, "a refund takes a week") {
		t.Errorf(`search finds %q: %s; want ids "x" and "a refund takes a week" in it`, ids, text)
	}
	reads := func(chunk string, around int, want string) {
		t.Helper()
		if text, ids := calls(t, agent, "read", map[string]any{"knowledge_base": "manuals", "chunk_id": chunk, "around": around}); ids != want {
			t.Errorf("%d around %s are %q, want %q: %s", around, chunk, ids, want, text)
		}
	}
	reads("c3", 0, "c3")
	reads("c3", 1, "c2 c3 c4")
	reads("c0", 2, "c0 c1 c2")
	reads("c4", 2, "c2 c3 c4 c6") // c5 is hidden
	reads("c8", 20, "c0 c1 c2 c3 c4 c6 c7 c8")
	reads("x", 20, "x")
	reads("c5", 1, "") // as if it were not there
	reads("nothing", 1, "")
}

// A gateway that comes back after it was away is asked again, by a new connection.
func TestAgentsOutliveTheGateway(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	target, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	next := httputil.NewSingleHostReverseProxy(target)
	next.Transport = r.http.Transport
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, request)
	}))
	t.Cleanup(front.Close)
	agent := agentBeside(t, t.TempDir(), "--server", front.URL)
	lists := func() (*mcp.CallToolResult, error) {
		return agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_knowledge_bases"})
	}
	if _, err := lists(); err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	if result, err := lists(); err == nil {
		t.Errorf("of a gateway that is away: %+v; want an error", result)
	}
	away.Store(false)
	if _, err := lists(); err != nil {
		t.Errorf("of a gateway that is back: %v", err)
	}
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitUnavailable, "", "mcp --server http://127.0.0.1:1", "http://127.0.0.1:1")
}
