package gateway

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

type searchInput struct {
	Body search.Request
}

func (s *Server) searchRoutes() {
	registerAppending[searchInput, search.Response](s, route{
		method: http.MethodPost, path: "/v1/search", tag: "search", access: reads,
		id: "search", summary: "Search knowledge bases",
		about: "Everything but query and knowledge_bases has a default, which the preset decides. " +
			"A leg that could take no part is listed in degraded.",
	}, s.answer)
}

// answer writes the answer to a search.
func (s *Server) answer(ctx context.Context, scope access.Scope, in *searchInput, to []byte) ([]byte, error) {
	s.noteQuery(ctx, in.Body.Query)
	answer, note, err := s.options.Searcher.Append(ctx, scope, in.Body, to)
	if err != nil {
		return nil, err
	}
	s.note(ctx, &note)
	return answer, nil
}

// search searches for who goes on with the answer.
func (s *Server) search(ctx context.Context, scope access.Scope, in *searchInput) (*search.Response, error) {
	s.noteQuery(ctx, in.Body.Query)
	answer, err := s.options.Searcher.Search(ctx, scope, in.Body)
	if err != nil {
		return nil, err
	}
	note := search.NoteOf(answer)
	s.note(ctx, &note)
	return answer, nil
}

// note logs and counts what an answer came to.
func (s *Server) note(ctx context.Context, note *search.Note) {
	for _, d := range note.Degraded {
		s.metrics.degraded.WithLabelValues(d.Leg).Inc()
	}
	annotate(ctx, slog.String("preset", note.Preset), slog.Int("hits", note.Hits))
}

// noteQuery logs what was asked, only where that was asked for.
func (s *Server) noteQuery(ctx context.Context, query string) {
	if s.options.LogQueries {
		annotate(ctx, slog.String("query", query))
	}
}
