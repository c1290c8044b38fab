package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

const (
	defaultMaxChars = 4000
	maxMaxChars     = 1_000_000

	formatContext = "context"
	formatTool    = "tool"
)

// ContextRequest is a search that is answered with text.
type ContextRequest struct {
	search.Request
	Format    string `json:"format,omitempty" enum:"context,tool" doc:"For a prompt (the default), or as a tool's output."`
	MaxChars  *int   `json:"max_chars,omitempty" doc:"Of format context: characters at most, 1 to 1000000; 4000 when left out."`
	MaxChunks *int   `json:"max_chunks,omitempty" doc:"Of format tool: chunks at most, 1 to 10000; all hits when left out."`
}

// ContextAnswer is the text and the sources of its numbers.
type ContextAnswer struct {
	QueryID string `json:"query_id"`
	Cached  bool   `json:"cached"`
	rag.Context
	Answerable  *float64          `json:"answerable" doc:"Probability in [0, 1] that the text answers the question; null where it is not known."`
	Degraded    []search.Degraded `json:"degraded"`
	Empty       string            `json:"empty,omitempty" enum:"nothing_relevant,threshold,words,filter,match" doc:"Why there is no hit, stable."`
	EmptyReason string            `json:"empty_reason,omitempty" locale:"text" doc:"The same in a sentence."`
}

type contextInput struct {
	Body ContextRequest
}

func (s *Server) contextRoutes() {
	register(s, route{
		method: http.MethodPost, path: "/v1/context", tag: "search", access: reads,
		id: "context", summary: "Search, for a prompt: numbered text of bounded length with its sources",
		about: "Takes the members of a search. In format context the text ends after a whole chunk or a whole " +
			"sentence within max_chars; in format tool it has max_chunks whole chunks.",
	}, s.context)
}

func (s *Server) context(ctx context.Context, scope access.Scope, in *contextInput) (*ContextAnswer, error) {
	req := &in.Body
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Highlight == nil { // no one would see highlights
		none := 0
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	found, err := s.search(ctx, scope, &searchInput{Body: req.Request})
	if err != nil {
		return nil, err
	}
	answer := &ContextAnswer{
		QueryID: found.QueryID, Cached: found.Cached, Answerable: found.Answerable, Degraded: found.Degraded,
		Empty: found.Empty, EmptyReason: found.EmptyReason, Context: req.format(found.Hits),
	}
	annotate(ctx, slog.Int("citations", len(answer.Citations)))
	return answer, nil
}

func (r *ContextRequest) check() error {
	r.Format = cmp.Or(r.Format, formatContext)
	if r.Format != formatContext && r.Format != formatTool {
		return fault.Invalid("format", r.Format, "context or tool")
	}
	if n := r.MaxChars; n != nil && (*n < 1 || *n > maxMaxChars) {
		return fault.Invalid("max_chars", *n, "1 to 1000000")
	}
	if n := r.MaxChunks; n != nil && (*n < 1 || *n > search.MaxTopK) {
		return fault.Invalid("max_chunks", *n, "1 to 10000")
	}
	return nil
}

func (r *ContextRequest) format(hits []search.Hit) rag.Context {
	if r.Format == formatTool {
		n := len(hits)
		if r.MaxChunks != nil {
			n = min(n, *r.MaxChunks)
		}
		c := rag.Context{
			Text: rag.FormatForToolOutput(hits, n), Citations: make([]rag.Citation, n), Truncated: n < len(hits),
		}
		for i := range c.Citations {
			c.Citations[i] = rag.Cite(&hits[i], i+1)
		}
		return c
	}
	limit := defaultMaxChars
	if r.MaxChars != nil {
		limit = *r.MaxChars
	}
	return rag.FormatForContext(hits, limit)
}
