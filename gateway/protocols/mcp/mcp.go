// Package mcp speaks the Model Context Protocol, for agents.
//
//	mcp.go        messages over HTTP
//	tools.go      tools
//	resources.go  documents as resources
package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// The Model Context Protocol over HTTP, without sessions and with JSON answers: each request is
// whole, so that any of several gateways may answer it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
const mcpPath = "/mcp"

// onePersons answers depend on the caller's permissions, and must not be shared.
const onePersons = "private"

// mcpInstructions describe the server to a model.
const mcpInstructions = "Searches the knowledge bases of this server by words and by meaning, in any language. " +
	"Call search with the user's question; answer from its results alone and cite their sources. When it says that " +
	"nothing answers the question, say so. Call read to see what stands around a result."

// JSON-RPC's codes of errors, and one of those that it leaves to servers.
const (
	rpcInvalidRequest = -32600
	rpcInternal       = -32603
	rpcServer         = -32000
)

// MCPMessage is a message of JSON-RPC.
type MCPMessage struct { //nolint:revive // the OpenAPI document calls it so
	Version string         `json:"jsonrpc" enum:"2.0"`
	ID      any            `json:"id,omitempty" doc:"A number or a text, which the answer has too; absent from what wants none."`
	Method  string         `json:"method,omitempty" doc:"Such as initialize, tools/list, tools/call, resources/read."`
	Params  map[string]any `json:"params,omitempty"`
	Result  any            `json:"result,omitempty" doc:"Of an answer."`
	Error   *MCPError      `json:"error,omitempty" doc:"Of an answer."`
}

// MCPError is an error in the form of JSON-RPC. Errors of a tool are part of its result.
type MCPError struct { //nolint:revive // the OpenAPI document calls it so
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// MCPRefusal is the answer to a message that is not served.
type MCPRefusal struct { //nolint:revive // the OpenAPI document calls it so
	Version string   `json:"jsonrpc"`
	ID      *string  `json:"id" doc:"Always null."`
	Error   MCPError `json:"error"`
}

// mcpCall is the HTTP request of a message.
type mcpCall struct {
	ctx   context.Context // with the deadline of the request, which the SDK's lacks
	scope access.Scope
}

type mcpCallKey struct{}

// Searcher answers questions, and explains hits.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Explain(ctx context.Context, scope access.Scope, req search.ExplainRequest) (*search.ExplainResponse, error)
}

// Catalog lists the knowledge bases.
type Catalog interface {
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
}

// Reader reads documents and their chunks.
type Reader interface {
	Documents(ctx context.Context, scope access.Scope, kb string, page ingest.Page) ([]engine.Document, error)
	Surroundings(ctx context.Context, scope access.Scope, place ingest.Place) ([]engine.Chunk, error)
	documents.Reader
}

// protocol holds the dependencies of the tools and resources.
type protocol struct {
	api       *endpoint.API
	version   string
	searcher  Searcher
	catalog   Catalog
	documents Reader
}

// Register adds the protocol.
func Register(
	api *endpoint.API, version string, searcher Searcher, catalog Catalog, documents Reader,
) {
	p := &protocol{api, version, searcher, catalog, documents}
	r := endpoint.Route{
		Method: http.MethodPost, Path: mcpPath, Tag: "protocols", Access: endpoint.Reads,
		ID: "mcp", Summary: "The Model Context Protocol, for agents",
		About: "Streamable HTTP without sessions: one JSON-RPC message in, one out. Its tools are search, read, " +
			"list_knowledge_bases and explain; its resources are the documents.",
		Dialect: &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[MCPRefusal]()},
	}
	message := map[string]*huma.MediaType{
		fiber.MIMEApplicationJSON: {Schema: api.Document.SchemaOf(reflect.TypeFor[MCPMessage]())},
	}
	op := api.Document.Operation(&r, api.Document.InputOf(reflect.TypeFor[struct{}]()))
	op.RequestBody = &huma.RequestBody{Required: true, Content: message}
	op.Responses["200"] = &huma.Response{Description: "The answer", Content: message}
	op.Responses["202"] = &huma.Response{Description: "The message wants no answer"}
	api.Document.AddOperation(op)

	server := p.server()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: int64(p.api.Limits.JSONBytes),
	})
	api.Mount(&r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		return p.serve(ctx, mcpCall{ctx, scope}, c, handler)
	})
}

// server has the tools and the resources. It is safe for concurrent use.
func (p *protocol) server() *sdk.Server {
	name := &sdk.Implementation{Name: "hybridge", Title: "Hybridge", Version: p.version}
	server := sdk.NewServer(name, &sdk.ServerOptions{
		Instructions: mcpInstructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = onePersons },
	})
	p.addTools(server)
	p.addResources(server)
	return server
}

// serve hands a message to the SDK as a request of net/http. Nothing of fiber's goes along:
// the SDK's goroutines may end after the answer.
func (p *protocol) serve(ctx context.Context, call mcpCall, c *fiber.Ctx, handler http.Handler) error {
	if err := endpoint.CheckContentType(c, endpoint.JSONTypes); err != nil {
		return err
	}
	var body bytes.Buffer
	if err := endpoint.ExchangeOf(c).Body.ReadAll(&body, p.api.Limits.JSONBytes); err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimSpace(body.Bytes()), []byte("[")) {
		return fault.New(fault.InvalidArgument, "the body is a JSON array; it must be one message")
	}
	within := context.WithValue(ctx, mcpCallKey{}, &call)
	request, err := http.NewRequestWithContext(within, http.MethodPost, mcpPath, &body)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "hand over a message")
	}
	for name, values := range c.GetReqHeaders() {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	request.Header.Set("Accept", "application/json, text/event-stream") // which the SDK wants, although the answer is JSON
	var answer answerBuffer
	handler.ServeHTTP(&answer, request)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for name, values := range answer.header {
		for _, value := range values {
			c.Response().Header.Add(name, value)
		}
	}
	return c.Status(max(answer.status, http.StatusOK)).Send(answer.body.Bytes())
}

// answerBuffer is the http.ResponseWriter of one answer.
type answerBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (b *answerBuffer) Header() http.Header {
	if b.header == nil {
		b.header = http.Header{}
	}
	return b.header
}

// WriteHeader implements http.ResponseWriter.
func (b *answerBuffer) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// Write implements http.ResponseWriter.
func (b *answerBuffer) Write(text []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(text)
}

func refusal(_ *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	refusal := MCPRefusal{Version: "2.0", Error: MCPError{
		Code: rpcServer, Message: p.Detail, Data: map[string]string{"code": p.Code},
	}}
	switch {
	case p.Status >= http.StatusInternalServerError:
		refusal.Error.Code = rpcInternal
	case p.Code == string(fault.InvalidArgument):
		refusal.Error.Code = rpcInvalidRequest
	}
	return p.Status, refusal
}

// within serves a message under the request's deadline and scope. Errors have the form of the API's;
// a panic is caught here, since the SDK would not.
func within[O any](
	ctx context.Context, p *protocol, do func(context.Context, access.Scope) (O, error),
) (output O, err error) {
	call, ok := ctx.Value(mcpCallKey{}).(*mcpCall)
	if !ok {
		return output, fault.New(fault.Internal, "a message without its request")
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.New(fault.Internal, "panic: %v\n%s", cause, debug.Stack())
		}
		if err != nil && endpoint.KindOf(err) == fault.Internal {
			p.api.Log.LogAttrs(call.ctx, slog.LevelError, "a message of the Model Context Protocol failed",
				slog.String("error", err.Error()))
		}
	}()
	return do(call.ctx, call.scope)
}
