package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search/recall"
)

// Recall measures how far approximate answers of a knowledge base are from the exact ones.
type Recall interface {
	Measure(ctx context.Context, scope access.Scope, kb string, req *recall.Request) (*recall.Report, error)
}

type recallInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body recall.Request
}

var errNoRecall = fault.New(fault.Unsupported, "this gateway does not measure recall")

func registerRecall(api *endpoint.API, measures Recall) {
	endpoint.RegisterWith(api, endpoint.Need(measures, errNoRecall), endpoint.Route{
		Method: http.MethodPost, Path: basePath + "/recall", Tag: "knowledge-bases", Access: endpoint.Reads,
		Role: keys.Operate, ID: "measure-recall", Summary: "Measure approximate answers by the exact ones",
		About: "Asks for vectors drawn from the knowledge base, or questions, twice: as searches do, and comparing " +
			"every vector. Tells the recall of each vector field, how far sampled statistics are off, what both do to " +
			"the answers of a preset, and the setting that would mend it. One measurement runs at a time, within " +
			"limits.request_timeout; what there was no time for is told.",
	}, func(ctx context.Context, measures Recall, scope access.Scope, in *recallInput) (*recall.Report, error) {
		return measures.Measure(ctx, scope, in.KB, &in.Body)
	})
}
