package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Gradings have a model fill judgment lists, and compare its grades with others.
type Gradings interface {
	Start(ctx context.Context, scope access.Scope, list string, req runs.GradeRequest) (*jobs.Job, error)
	Agreement(ctx context.Context, scope access.Scope, list, with string) (*judge.Agreement, error)
}

type gradeInput struct {
	List string `path:"list" doc:"Id of the judgment list, whose source is model."`
	Body runs.GradeRequest
}

type agreementInput struct {
	List string `path:"list" doc:"Id of the judgment list."`
	With string `query:"with" required:"true" doc:"Id of the other list, of the same query set and scale."`
}

func registerGradings(api *endpoint.API, store Gradings) {
	gradings := endpoint.Need(store, errNoEvaluations)
	endpoint.RegisterWith(api, gradings, endpoint.Route{
		Method: http.MethodPost, Path: judgmentListPath + "/grade", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Manage, Status: http.StatusAccepted, ID: "grade-judgment-list",
		Summary: "Have a model grade hits by a rubric, as a job",
		About: "The model of judge.url grades the best hits of systems, and what another list has grades for, into a list " +
			"whose source is model. Each judgment names model and rubric, and why. A text that has a grade by both already is " +
			"not asked for again.",
	}, gradeList)
	endpoint.RegisterWith(api, gradings, endpoint.Route{
		Method: http.MethodGet, Path: judgmentListPath + "/agreement", Tag: evaluationTag, Access: endpoint.Reads,
		Whole: true, ID: "get-agreement", Summary: "Compare the grades of two judgment lists",
		About: "Where both judged the same text: a table of both grades, Cohen's kappa with quadratic weights and its " +
			"interval, and which of them is stricter. It says how far the grades of a model, or of clicks, are to be trusted.",
	}, agreement)
}

func gradeList(ctx context.Context, g Gradings, scope access.Scope, in *gradeInput) (*jobs.Job, error) {
	return g.Start(ctx, scope, in.List, in.Body)
}

func agreement(ctx context.Context, g Gradings, scope access.Scope, in *agreementInput) (*judge.Agreement, error) {
	return g.Agreement(ctx, scope, in.List, in.With)
}
