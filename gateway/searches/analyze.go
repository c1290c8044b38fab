package searches

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

func (s *Searches) analyzeRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/analyze", Tag: "search", Access: endpoint.Reads,
		ID: "analyze", Summary: "What a search would do, without doing it",
		About: "Tokens, weights, synonyms, the plan, and the exact requests to the engines.",
	}, s.analyze)
}

func (s *Searches) analyze(
	ctx context.Context, scope access.Scope, in *searchInput,
) (*search.AnalyzeResponse, error) {
	s.NoteQuery(ctx, in.Body.Query)
	return s.Analyze(ctx, scope, in.Body)
}
