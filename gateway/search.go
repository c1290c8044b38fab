package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

// Searcher answers questions.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Explain(ctx context.Context, scope access.Scope, req search.ExplainRequest) (*search.ExplainResponse, error)
	Analyze(ctx context.Context, scope access.Scope, req search.Request) (*search.AnalyzeResponse, error)
	Together(ctx context.Context, scope access.Scope, requests []search.Request) ([]search.Outcome, error)
	Suggest(ctx context.Context, scope access.Scope, req search.SuggestRequest) (*search.Suggestions, error)
	// ScoreTexts scores texts that no knowledge base holds.
	ScoreTexts(ctx context.Context, req *search.TextsRequest) (*search.TextScores, error)
	// Presets are those that a tenant may name, and the one of a search that names none.
	Presets(tenant string) (names []string, standard string)
	Models() (rerankers []string, writes bool)
}

// sharedSearcher is a Searcher whose answers may have a part in common, see
// search.Response.Shared.
type sharedSearcher interface {
	SearchShared(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

type searchInput struct {
	Body search.Request
}

func (s *Server) searchRoutes() {
	endpoint.Register(s.API, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/search", Tag: "search", Access: endpoint.Reads,
		ID: "search", Summary: "Search knowledge bases",
		About: "Everything but query and knowledge_bases has a default, which the preset decides. " +
			"A leg that could take no part is listed in degraded.",
	}, s.searchJSON)
}

func (s *Server) search(ctx context.Context, scope access.Scope, in *searchInput) (*search.Response, error) {
	s.noteQuery(ctx, in.Body.Query)
	return s.searchBy(ctx, scope, &in.Body, s.options.Searcher.Search)
}

// searchJSON is search for an answer that is sent as it is.
func (s *Server) searchJSON(ctx context.Context, scope access.Scope, in *searchInput) (*search.Response, error) {
	s.noteQuery(ctx, in.Body.Query)
	if shared, ok := s.options.Searcher.(sharedSearcher); ok {
		return s.searchBy(ctx, scope, &in.Body, shared.SearchShared)
	}
	return s.searchBy(ctx, scope, &in.Body, s.options.Searcher.Search)
}

func (s *Server) searchBy(
	ctx context.Context, scope access.Scope, req *search.Request,
	find func(context.Context, access.Scope, search.Request) (*search.Response, error),
) (*search.Response, error) {
	started := time.Now()
	response, err := find(ctx, scope, *req)
	if err != nil {
		s.failed(scope, req.Preset, endpoint.KindOf(err), time.Since(started))
		return nil, err
	}
	s.answered(response, time.Since(started))
	s.noteDegraded(ctx, response.Degraded)
	hits := len(response.Hits)
	if response.Shared != nil {
		hits = response.Shared.Hits
	}
	endpoint.Annotate(ctx, slog.String("query_id", response.QueryID), slog.String("preset", response.Preset),
		slog.Int("hits", hits))
	return response, nil
}

// noteQuery adds the query to the log line, if that is configured.
func (s *Server) noteQuery(ctx context.Context, query string) {
	if s.options.LogQueries {
		endpoint.Annotate(ctx, slog.String("query", query))
	}
}
