package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Demo fills a knowledge base with the documents that come with the program.
type Demo interface {
	// Load starts that as a job of the tenant, or gives the one that runs.
	Load(ctx context.Context, scope access.Scope) (jobs.Job, error)
}

func (s *Server) demoRoutes() {
	endpoint.Register(s.API, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/demo", Tag: "knowledge-bases", Access: endpoint.Governs, Status: http.StatusAccepted,
		ID: "load-demo", Summary: "Load sample data into the knowledge base docs",
		About: "Pages of the guide, as serve --demo loads them. The answer is a job, by which progress and errors can be " +
			"watched; while it runs it is the same job. A knowledge base docs that is not the demo is left alone.",
	}, s.loadDemo)
}

func (s *Server) loadDemo(ctx context.Context, scope access.Scope, _ *struct{}) (*jobs.Job, error) {
	if s.options.Demo == nil {
		return nil, fault.New(fault.Unsupported, "this gateway has no sample data")
	}
	job, err := s.options.Demo.Load(ctx, scope)
	return &job, err
}
