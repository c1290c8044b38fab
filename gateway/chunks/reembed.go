package chunks

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
)

// embedJobKind is the kind of the jobs that make vectors anew.
const embedJobKind = "embed"

// Reembed says which vectors to make.
type Reembed struct {
	All bool `json:"all,omitempty" doc:"Also those of chunks that have theirs, as after the model changed under the same name."`
}

type reembedInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body Reembed
}

func (s *documentService) reembedRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: basePath + "/embed", Tag: "knowledge-bases", Access: endpoint.Governs,
		Status: http.StatusAccepted, ID: "embed-knowledge-base", Summary: "Make the vectors that chunks lack, or all anew",
		About: "The answer is a job, by which progress and errors can be watched. One that was cancelled leaves the " +
			"vectors that it made; chunks that are written meanwhile stay as they are written.",
	}, s.reembed)
}

func (s *documentService) reembed(ctx context.Context, scope access.Scope, in *reembedInput) (*jobs.Job, error) {
	if s.jobs == nil {
		return nil, fault.New(fault.Unsupported, "this gateway runs no jobs")
	}
	for _, job := range s.jobs.List(scope.Tenant) {
		if job.Kind == embedJobKind && job.KnowledgeBase == in.KB && job.State == jobs.Running {
			return nil, fault.New(fault.Conflict,
				"vectors of knowledge base %q are being made; job %q tells how far it is", in.KB, job.ID)
		}
	}
	work, err := s.ingester.Reembed(ctx, scope, ingest.Reembedding{KB: in.KB, All: in.Body.All})
	if err != nil {
		return nil, err
	}
	job, err := s.jobs.Start(jobs.Job{Kind: embedJobKind, Tenant: scope.Tenant, KnowledgeBase: in.KB},
		func(ctx context.Context, report func(jobs.Progress)) error {
			return work(ctx, func(done, total int) { report(jobs.Progress{Step: "embed", Done: done, Total: total}) })
		})
	return &job, err
}
