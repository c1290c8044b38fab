package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Evaluations measures systems on query sets.
type Evaluations interface {
	Start(ctx context.Context, scope access.Scope, req runs.Request) (*runs.Evaluation, error)
	Resume(ctx context.Context, scope access.Scope, id string) (*runs.Evaluation, error)
	Cancel(ctx context.Context, scope access.Scope, id string) (*runs.Evaluation, error)
	List(ctx context.Context, scope access.Scope) ([]runs.Evaluation, error)
	Get(ctx context.Context, scope access.Scope, id string) (*runs.Evaluation, error)
	Delete(ctx context.Context, scope access.Scope, id string) error
	Rows(ctx context.Context, scope access.Scope, id string, page runs.RowPage) ([]runs.Row, string, error)
	Compare(ctx context.Context, scope access.Scope, id string, c runs.Comparing) (*evaluation.Comparison, error)
	Unjudged(ctx context.Context, scope access.Scope, id string, depth, limit int) ([]runs.Unjudged, error)
}

// EvaluationList is the answer to listing them.
type EvaluationList struct {
	Evaluations []runs.Evaluation `json:"evaluations" nullable:"false" doc:"The latest first, without comparisons."`
}

// EvaluationRows is a page of a system's answers.
type EvaluationRows struct {
	Rows []runs.Row `json:"rows" nullable:"false" doc:"In the order of the queries' ids."`
	Next string     `json:"next,omitempty" doc:"after of the next page; left out where there are no more."`
}

// UnjudgedHits are hits worth judging.
type UnjudgedHits struct {
	Unjudged []runs.Unjudged `json:"unjudged" nullable:"false" doc:"Those first that most systems show, then those that rank highest."`
}

type evaluationInput struct {
	Evaluation string `path:"evaluation" doc:"Id of the evaluation."`
}

func (in evaluationInput) id() string { return in.Evaluation }

type evaluationRowsInput struct {
	Evaluation string `path:"evaluation" doc:"Id of the evaluation."`
	System     string `query:"system" doc:"Name of the system."`
	Query      string `query:"query" doc:"Id of a query: its row alone."`
	After      string `query:"after" doc:"Id of a query: those after it."`
	Limit      int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows at most."`
}

type compareEvaluationInput struct {
	Evaluation string   `path:"evaluation" doc:"Id of the evaluation."`
	System     string   `query:"system" doc:"Name of one of its systems."`
	Against    string   `query:"against" doc:"Name of the system that it is compared with."`
	Baseline   string   `query:"baseline" doc:"Id of another evaluation, which has that system; without it the same one."`
	Metrics    []string `query:"metric" doc:"May be there several times; without it those of the evaluation."`
}

type unjudgedInput struct {
	Evaluation string `path:"evaluation" doc:"Id of the evaluation."`
	Depth      int    `query:"depth" minimum:"1" maximum:"100" default:"10" doc:"Hits of an answer that are looked at."`
	Limit      int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Hits at most."`
}

const (
	evaluationsPath = "/v1/evaluations"
	evaluationPath  = evaluationsPath + "/{evaluation}"
)

var errNoEvaluations = fault.New(fault.Unsupported,
	"this gateway keeps no evaluations: its default engine has no place for them")

func registerEvaluations(api *endpoint.API, store Evaluations) {
	evaluations := endpoint.Need(store, errNoEvaluations)
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodPost, Path: evaluationsPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusAccepted, ID: "start-evaluation", Summary: "Measure systems on a query set, as a job",
		About: "Every judged query is asked by every system, over the knowledge bases as they are, within what the key " +
			"sees. The job has the id of the answer: /v1/jobs/{id} and its events tell the progress. A system that cannot " +
			"search is refused at once.",
	}, withBody(Evaluations.Start))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodGet, Path: evaluationsPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-evaluations", Summary: "List evaluations",
		About: "Those whose knowledge bases the key sees.",
	}, listing(Evaluations.List, func(all []runs.Evaluation) *EvaluationList {
		return &EvaluationList{all}
	}))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodGet, Path: evaluationPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "get-evaluation", Summary: "Get an evaluation: its state, and what each system reached",
		About: "Means have 95 % bootstrap intervals. Comparisons have a paired randomization test, corrected by Holm's " +
			"method for all of them, and the queries that lost and gained most.",
	}, byID[evaluationInput](Evaluations.Get))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodDelete, Path: evaluationPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusNoContent, ID: "delete-evaluation", Summary: "Delete an evaluation",
		About: "One that is running is a conflict: cancel it first.",
	}, deleting[evaluationInput](Evaluations.Delete))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodPost, Path: evaluationPath + "/resume", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Manage, Status: http.StatusAccepted, ID: "resume-evaluation",
		Summary: "Go on with an evaluation that ended before its time",
		About:   "What was answered is not asked again; searches that failed are.",
	}, byID[evaluationInput](Evaluations.Resume))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodPost, Path: evaluationPath + "/cancel", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Manage, Status: http.StatusAccepted, ID: "cancel-evaluation",
		Summary: "Cancel an evaluation that this gateway runs",
		About:   "What was answered is kept, and resume goes on.",
	}, byID[evaluationInput](Evaluations.Cancel))
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodGet, Path: evaluationPath + "/rows", Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-evaluation-rows", Summary: "How a system answered each query",
		About: "Hits with their grades and, of the first 20, what each leg gave them: what moved, and why.",
	}, evaluationRows)
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodGet, Path: evaluationPath + "/comparison", Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "compare-evaluations", Summary: "Compare two systems of one evaluation, or of two",
		About: "By any metric, on the queries that both answered and by the judgments of the first evaluation; every query " +
			"is in the answer.",
	}, compareEvaluation)
	endpoint.RegisterWith(api, evaluations, endpoint.Route{
		Method: http.MethodGet, Path: evaluationPath + "/unjudged", Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-unjudged", Summary: "Hits that nobody has judged",
		About: "Metrics take them for not relevant; judging these first tells most.",
	}, unjudged)
}

func evaluationRows(
	ctx context.Context, e Evaluations, scope access.Scope, in *evaluationRowsInput,
) (*EvaluationRows, error) {
	page := runs.RowPage{System: in.System, Query: in.Query, After: in.After, Limit: in.Limit}
	rows, next, err := e.Rows(ctx, scope, in.Evaluation, page)
	return &EvaluationRows{rows, next}, err
}

func compareEvaluation(
	ctx context.Context, e Evaluations, scope access.Scope, in *compareEvaluationInput,
) (*evaluation.Comparison, error) {
	return e.Compare(ctx, scope, in.Evaluation, runs.Comparing{
		System: in.System, Against: in.Against, Baseline: in.Baseline, Metrics: in.Metrics,
	})
}

func unjudged(
	ctx context.Context, e Evaluations, scope access.Scope, in *unjudgedInput,
) (*UnjudgedHits, error) {
	all, err := e.Unjudged(ctx, scope, in.Evaluation, in.Depth, in.Limit)
	return &UnjudgedHits{all}, err
}
