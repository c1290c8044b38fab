package searches

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

type explainInput struct {
	Body search.ExplainRequest
}

func (s *Searches) explainRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/explain", Tag: "search", Access: endpoint.Reads,
		ID: "explain", Summary: "Why a chunk is, or is not, in the answer to a search",
		About: "Runs the search and says of one chunk which legs found it and how they scored it, or what " +
			"kept it out: the filter, a threshold, a rule, its rank.",
	}, s.explain)
}

func (s *Searches) explain(
	ctx context.Context, scope access.Scope, in *explainInput,
) (*search.ExplainResponse, error) {
	return s.Explain(ctx, scope, in.Body)
}
