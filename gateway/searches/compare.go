package searches

import (
	"context"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search/compare"
)

type compareInput struct {
	Body compare.Question
}

func (s *Searches) compareRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/compare", Tag: "search", Access: endpoint.Reads,
		ID: "compare", Summary: "One question, 2 to 6 plans side by side",
		About: "The columns run at the same time over one analysis and one embedding of the query. The answer has " +
			"the hits of each, how far the rankings agree, and how each chunk moved. A column that fails tells why.",
	}, s.compare)
}

func (s *Searches) compare(
	ctx context.Context, scope access.Scope, in *compareInput,
) (*compare.Comparison, error) {
	s.NoteQuery(ctx, in.Body.Query)
	started := time.Now()
	answer, err := compare.Run(ctx, s.Searcher, scope, &in.Body)
	if err != nil {
		return nil, err
	}
	for i := range answer.Columns {
		side, preset := &answer.Columns[i], in.Body.Columns[i].Preset
		if side.Response == nil {
			s.failed(scope, preset, side.Error.Code, time.Since(started))
			continue
		}
		s.noteDegraded(ctx, side.Response.Degraded)
		s.answered(side.Response, time.Duration(side.Response.TookMS*float64(time.Millisecond)))
	}
	return answer, nil
}
