package searches

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

type suggestInput struct {
	Body search.SuggestRequest
}

func (s *Searches) suggestRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/suggest", Tag: "search", Access: endpoint.Reads,
		ID: "suggest", Summary: "Suggest how what was typed may go on",
		About: "Titles, questions of pairs and words, of chunks that the caller may see. A knowledge base that could " +
			"not be asked is listed in degraded.",
	}, s.suggest)
}

func (s *Searches) suggest(ctx context.Context, scope access.Scope, in *suggestInput) (*search.Suggestions, error) {
	s.NoteQuery(ctx, in.Body.Query)
	answer, err := s.Suggest(ctx, scope, in.Body)
	if err != nil {
		return nil, err
	}
	endpoint.Annotate(ctx, slog.Int("suggestions", len(answer.Suggestions)))
	return answer, nil
}
