package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

func (s *Server) analyzeRoutes() {
	register(s, route{
		method: http.MethodPost, path: "/v1/analyze", tag: "search", access: reads,
		id: "analyze", summary: "What a search would do, without doing it",
		about: "Tokens, weights, synonyms, the plan, and the exact requests to the engines.",
	}, s.analyze)
}

func (s *Server) analyze(
	ctx context.Context, scope access.Scope, in *searchInput,
) (*search.AnalyzeResponse, error) {
	s.noteQuery(ctx, in.Body.Query)
	return s.options.Searcher.Analyze(ctx, scope, in.Body)
}
