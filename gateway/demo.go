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

var errNoDemo = fault.New(fault.Unsupported, "this gateway has no sample data")

func registerDemo(api *endpoint.API, demo Demo) {
	endpoint.RegisterWith(api, endpoint.Need(demo, errNoDemo), endpoint.Route{
		Method: http.MethodPost, Path: "/v1/demo", Tag: "knowledge-bases", Access: endpoint.Governs,
		Status: http.StatusAccepted, ID: "load-demo", Summary: "Load sample data into the knowledge base docs",
		About: "Pages of the guide, as serve --demo loads them. The answer is a job, by which progress and errors can be " +
			"watched; while it runs it is the same job. A knowledge base docs that is not the demo is left alone.",
	}, func(ctx context.Context, demo Demo, scope access.Scope, _ *struct{}) (*jobs.Job, error) {
		job, err := demo.Load(ctx, scope)
		return &job, err
	})
}
