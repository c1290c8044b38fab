package gateway

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

// Searcher answers questions.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Explain(ctx context.Context, scope access.Scope, req search.ExplainRequest) (*search.ExplainResponse, error)
	Analyze(ctx context.Context, scope access.Scope, req search.Request) (*search.AnalyzeResponse, error)
	Together(ctx context.Context, scope access.Scope, requests []search.Request) ([]search.Outcome, error)
	Presets() (names []string, standard string)
}

type searchInput struct {
	Body search.Request
}

func (s *Server) searchRoutes() {
	register(s, route{
		method: http.MethodPost, path: "/v1/search", tag: "search", access: reads,
		id: "search", summary: "Search knowledge bases",
		about: "Everything but query and knowledge_bases has a default, which the preset decides. " +
			"A leg that could take no part is listed in degraded.",
	}, s.search)
}

func (s *Server) search(ctx context.Context, scope access.Scope, in *searchInput) (*search.Response, error) {
	s.noteQuery(ctx, in.Body.Query)
	response, err := s.options.Searcher.Search(ctx, scope, in.Body)
	if err != nil {
		return nil, err
	}
	s.noteDegraded(ctx, response.Degraded)
	annotate(ctx, slog.String("preset", response.Preset), slog.Int("hits", len(response.Hits)))
	return response, nil
}

// noteQuery adds the query to the log line, if that is configured.
func (s *Server) noteQuery(ctx context.Context, query string) {
	if s.options.LogQueries {
		annotate(ctx, slog.String("query", query))
	}
}
