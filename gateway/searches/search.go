// Package searches has the resources that ask: searches of all forms, their explanations, and answers of a model. It
// provides a Searcher that counts, logs and warns.
//
//	search.go, batch.go, context.go, answer.go  searches, and texts made of hits
//	suggest.go, compare.go, explain.go, analyze.go  further requests
//	metrics.go, degraded.go  metrics and logs of searches
package searches

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
	"github.com/prometheus/client_golang/prometheus"
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
	// Presets gives the names that a tenant may use, and the default.
	Presets(tenant string) (names []string, standard string)
	Models() (rerankers []string, writes bool)
}

// SavedPresets tells presets that tenants save from built-in and configured ones.
type SavedPresets interface {
	// Given is a built-in or configured preset; source is empty if there is none of the name.
	Given(name string) (d *presets.Definition, source string)
}

// sharedSearcher is a Searcher whose answers may have a part in common, see
// search.Response.Shared.
type sharedSearcher interface {
	SearchShared(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

type searchInput struct {
	Body search.Request
}

// Searches is a Searcher that counts searches, logs questions and warns of degraded answers.
type Searches struct {
	Searcher

	api        *endpoint.API
	saved      SavedPresets // nil: there are no presets but the searcher's
	metrics    *metrics
	warnings   warnings
	logQueries bool
}

// Sources are the dependencies of searches.
type Sources struct {
	Searcher   Searcher
	Saved      SavedPresets // nil: there are no presets but the searcher's
	Answers    Answerer     // nil: no model answers
	Registry   *prometheus.Registry
	LogQueries bool // adds the text of searches to the log
}

// Register adds the resources, and gives the Searcher for other resources.
func Register(api *endpoint.API, of Sources) *Searches {
	s := &Searches{
		Searcher: of.Searcher, api: api, saved: of.Saved, metrics: newMetrics(of.Registry), logQueries: of.LogQueries,
	}
	s.searchRoutes()
	s.batchRoutes()
	s.suggestRoutes()
	s.compareRoutes()
	s.contextRoutes()
	s.explainRoutes()
	s.analyzeRoutes()
	(&answerService{api, s, of.Answers, make(chan struct{}, api.Limits.Answers)}).register()
	return s
}

func (s *Searches) searchRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/search", Tag: "search", Access: endpoint.Reads,
		ID: "search", Summary: "Search knowledge bases",
		About: "Everything but query and knowledge_bases has a default, which the preset decides. " +
			"A leg that could take no part is listed in degraded.",
	}, s.searchJSON)
}

// Search implements Searcher.
func (s *Searches) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	return s.searchBy(ctx, scope, &req, s.Searcher.Search)
}

// searchJSON is Search for an answer that is sent as it is.
func (s *Searches) searchJSON(ctx context.Context, scope access.Scope, in *searchInput) (*search.Response, error) {
	if shared, ok := s.Searcher.(sharedSearcher); ok {
		return s.searchBy(ctx, scope, &in.Body, shared.SearchShared)
	}
	return s.Search(ctx, scope, in.Body)
}

// Explain implements Searcher.
func (s *Searches) Explain(
	ctx context.Context, scope access.Scope, req search.ExplainRequest,
) (*search.ExplainResponse, error) {
	s.NoteQuery(ctx, req.Query)
	return s.Searcher.Explain(ctx, scope, req)
}

// ScoreTexts implements Searcher.
func (s *Searches) ScoreTexts(ctx context.Context, req *search.TextsRequest) (*search.TextScores, error) {
	s.NoteQuery(ctx, req.Query)
	scored, err := s.Searcher.ScoreTexts(ctx, req)
	if err == nil {
		s.noteDegraded(ctx, scored.Degraded)
	}
	return scored, err
}

func (s *Searches) searchBy(
	ctx context.Context, scope access.Scope, req *search.Request,
	find func(context.Context, access.Scope, search.Request) (*search.Response, error),
) (*search.Response, error) {
	s.NoteQuery(ctx, req.Query)
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

// NoteQuery adds the query to the log line, if that is configured.
func (s *Searches) NoteQuery(ctx context.Context, query string) {
	if s.logQueries {
		endpoint.Annotate(ctx, slog.String("query", query))
	}
}
