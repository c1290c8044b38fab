package operating

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func mcpCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent over standard input and output (Model Context Protocol)",
		Long: `Mcp speaks the Model Context Protocol over standard input and output, for programs
that start their tools themselves. It hands what they ask to a gateway's /mcp: that of
--server, the one that uses the data directory, or one for the time of the command.`,
		Example: `  hybridge mcp --data-dir /srv/hybridge
  hybridge mcp --server https://search.example --key "$KEY"`,
	}
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, _ []string) error {
		r := &mcpRelay{client: c, version: p.Version}
		defer r.close()
		return r.serve(ctx, p.Stdin, p.Stdout)
	})
}

// mcpRelay answers an agent with what a gateway answers. The connection to the gateway is opened
// anew when it failed: agents do not start their tools again.
type mcpRelay struct {
	client  *cli.Client
	version string // of this program

	mu      sync.Mutex
	session *mcp.ClientSession
}

func (r *mcpRelay) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	session, err := r.open(ctx)
	if err != nil {
		return err
	}
	known := session.InitializeResult()
	server := mcp.NewServer(known.ServerInfo, &mcp.ServerOptions{
		Instructions: known.Instructions, Capabilities: known.Capabilities,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	server.AddReceivingMiddleware(r.relays)
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // the agent has gone, or this is to end
	}
	return err
}

// relays passes on requests for tools and resources; the SDK answers the rest.
func (r *mcpRelay) relays(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch asked := req.(type) {
		case *mcp.ListToolsRequest:
			return relay(ctx, r, func(s *mcp.ClientSession) (mcp.Result, error) { return s.ListTools(ctx, asked.Params) })
		case *mcp.CallToolRequest:
			params := &mcp.CallToolParams{Name: asked.Params.Name, Arguments: asked.Params.Arguments}
			return relay(ctx, r, func(s *mcp.ClientSession) (mcp.Result, error) { return s.CallTool(ctx, params) })
		case *mcp.ListResourcesRequest:
			return relay(ctx, r, func(s *mcp.ClientSession) (mcp.Result, error) { return s.ListResources(ctx, asked.Params) })
		case *mcp.ListResourceTemplatesRequest:
			return relay(ctx, r, func(s *mcp.ClientSession) (mcp.Result, error) {
				return s.ListResourceTemplates(ctx, asked.Params)
			})
		case *mcp.ReadResourceRequest:
			return relay(ctx, r, func(s *mcp.ClientSession) (mcp.Result, error) { return s.ReadResource(ctx, asked.Params) })
		default:
			return next(ctx, method, req)
		}
	}
}

// relay asks the gateway, once more by a new connection where the one there was has failed.
func relay(ctx context.Context, r *mcpRelay, ask func(*mcp.ClientSession) (mcp.Result, error)) (mcp.Result, error) {
	for again := false; ; again = true {
		session, err := r.open(ctx)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		}
		answer, err := ask(session)
		var told *jsonrpc.Error
		if err == nil || errors.As(err, &told) || again || ctx.Err() != nil {
			return answer, err
		}
		r.drop(session)
	}
}

// open returns the connection to the gateway.
func (r *mcpRelay) open(ctx context.Context) (*mcp.ClientSession, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil {
		return r.session, nil
	}
	agent := mcp.NewClient(&mcp.Implementation{Name: "hybridge", Version: r.version}, nil)
	session, err := agent.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: r.client.Base + "/mcp", HTTPClient: &http.Client{Transport: keyed{r.client}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "reach the gateway at %s", r.client.Base)
	}
	r.session = session
	return session, nil
}

func (r *mcpRelay) drop(session *mcp.ClientSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == session {
		r.session = nil
	}
	_ = session.Close() // it has failed
}

func (r *mcpRelay) close() {
	if r.session != nil {
		_ = r.session.Close() // the gateway keeps nothing of it
	}
}

// keyed presents the key of a client.
type keyed struct{ client *cli.Client }

// RoundTrip implements http.RoundTripper.
func (k keyed) RoundTrip(request *http.Request) (*http.Response, error) {
	if k.client.Key != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+k.client.Key)
	}
	return k.client.HTTP.Transport.RoundTrip(request)
}

// unclosed is a stream that others close.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
