package searches

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
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
	MaxChars  *int   `json:"max_chars,omitempty" minimum:"1" maximum:"1000000" doc:"Of format context: characters at most, 1 to 1000000; 4000 when left out."`
	MaxChunks *int   `json:"max_chunks,omitempty" minimum:"1" maximum:"10000" doc:"Of format tool: chunks at most, 1 to 10000; all hits when left out."`
	// MinRelevance is Threshold.Answerable under the name that programs of this kind look for.
	MinRelevance *float64 `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"0 to 1: least probability that the answer answers the question, as threshold.answerable; below it there is no text but, in format tool, a sentence that says so."`
}

// ContextAnswer is the text and the sources of its numbers.
type ContextAnswer struct {
	QueryID string `json:"query_id"`
	Cached  bool   `json:"cached"`
	rag.Context
	Degraded []search.Degraded `json:"degraded"`
}

type contextInput struct {
	Body ContextRequest
}

func (s *Searches) contextRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/context", Tag: "search", Access: endpoint.Reads,
		ID: "context", Summary: "Search, for a prompt: numbered text of bounded length with its sources",
		About: "Takes the members of a search. In format context the text ends after a whole chunk or a whole " +
			"sentence within max_chars; in format tool it has max_chunks whole chunks.",
	}, s.context)
}

func (s *Searches) context(ctx context.Context, scope access.Scope, in *contextInput) (*ContextAnswer, error) {
	req := &in.Body
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Highlight == nil { // no one would see highlights
		none := 0
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	if req.MinRelevance != nil {
		req.Threshold.Answerable = req.MinRelevance
	}
	found, err := s.Search(ctx, scope, req.Request)
	if err != nil {
		return nil, err
	}
	answer := &ContextAnswer{
		QueryID: found.QueryID, Cached: found.Cached, Degraded: found.Degraded, Context: req.format(found),
	}
	endpoint.Annotate(ctx, slog.Int("citations", len(answer.Citations)))
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
	if p := r.MinRelevance; p != nil && !(*p >= 0 && *p <= 1) {
		return fault.Invalid("min_relevance", *p, "0 to 1")
	}
	return nil
}

func (r *ContextRequest) format(answer *search.Response) rag.Context {
	if r.Format == formatTool {
		n := len(answer.Hits)
		if r.MaxChunks != nil {
			n = min(n, *r.MaxChunks)
		}
		return rag.FormatAnswerForTool(answer, n)
	}
	limit := defaultMaxChars
	if r.MaxChars != nil {
		limit = *r.MaxChars
	}
	return rag.FormatAnswer(answer, limit)
}
