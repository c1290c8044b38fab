package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Experiments lets users decide between ways to search.
type Experiments interface {
	Create(ctx context.Context, scope access.Scope, d live.Definition) (*live.Experiment, error)
	List(ctx context.Context, scope access.Scope) ([]live.Experiment, error)
	Get(ctx context.Context, scope access.Scope, id string) (*live.Experiment, error)
	Report(ctx context.Context, scope access.Scope, id string) (*experiments.Report, error)
	Needed(ctx context.Context, scope access.Scope, p live.Plan) (*live.Estimate, error)
	Stop(ctx context.Context, scope access.Scope, id, reason string) (*live.Experiment, error)
	Delete(ctx context.Context, scope access.Scope, id string) error
}

// ExperimentList is the answer to listing them.
type ExperimentList struct {
	Experiments []live.Experiment `json:"experiments" nullable:"false" doc:"The latest first."`
}

// StopExperiment ends an experiment.
type StopExperiment struct {
	Reason string `json:"reason,omitempty" doc:"Why, for people; at most 1000 bytes."`
}

type experimentInput struct {
	Experiment string `path:"experiment" doc:"Id of the experiment."`
}

func (in experimentInput) id() string { return in.Experiment }

type stopExperimentInput struct {
	Experiment string `path:"experiment" doc:"Id of the experiment."`
	Body       StopExperiment
}

const (
	experimentTag   = "experiments"
	experimentsPath = "/v1/experiments"
	experimentPath  = experimentsPath + "/{experiment}"
)

var errNoExperiments = fault.New(fault.Unsupported,
	"this gateway keeps no experiments: its default engine has no place for them")

func registerExperiments(api *endpoint.API, store Experiments) {
	experiments := endpoint.Need(store, errNoExperiments)
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodPost, Path: experimentsPath, Tag: experimentTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusCreated,
		ID:     "create-experiment", Summary: "Make an experiment, which runs from its start to its end",
		About: "Searches with a client_id, or a session_id, are answered by the variant that the key has by a hash of the " +
			"experiment's id, on every gateway the same; or by both in one list. Variants that cannot run are refused, and " +
			"so is what sets the same members of the same searches as another experiment. A definition never changes.",
	}, withBody(Experiments.Create))
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodGet, Path: experimentsPath, Tag: experimentTag, Access: endpoint.Reads, Whole: true,
		ID: "list-experiments", Summary: "List experiments",
		About: "Those whose knowledge bases the key sees.",
	}, listing(Experiments.List, func(all []live.Experiment) *ExperimentList {
		return &ExperimentList{all}
	}))
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodGet, Path: experimentPath, Tag: experimentTag, Access: endpoint.Reads, Whole: true,
		ID: "get-experiment", Summary: "Get an experiment and its state",
		About: "One that a guard rail stopped says which.",
	}, byID[experimentInput](Experiments.Get))
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodGet, Path: experimentPath + "/report", Tag: experimentTag, Access: endpoint.Reads, Whole: true,
		Timeout: api.Limits.Ingest, ID: "report-experiment", Summary: "What is known of an experiment",
		About: "Metrics of each variant, their differences, and a verdict. The tests may be looked at any time. It needs " +
			"the log of events.",
	}, byID[experimentInput](Experiments.Report))
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodPost, Path: experimentPath + "/stop", Tag: experimentTag, Access: endpoint.Governs,
		Role: keys.Manage, ID: "stop-experiment", Summary: "Stop an experiment before its end",
		About: "Other gateways stop some seconds later. One that is over stays as it is.",
	}, stopExperiment)
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodDelete, Path: experimentPath, Tag: experimentTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusNoContent, ID: "delete-experiment", Summary: "Delete an experiment",
		About: "One that is running is a conflict: stop it first.",
	}, deleting[experimentInput](Experiments.Delete))
	endpoint.RegisterWith(api, experiments, endpoint.Route{
		Method: http.MethodPost, Path: experimentsPath + "/needed", Tag: experimentTag, Access: endpoint.Reads, Whole: true,
		Timeout: api.Limits.Ingest,
		ID:      "needed-experiment", Summary: "How long an experiment would take to find a difference",
		About: "What the goal leaves out is taken from the log of the last week.",
	}, withBody(Experiments.Needed))
}

func stopExperiment(
	ctx context.Context, e Experiments, scope access.Scope, in *stopExperimentInput,
) (*live.Experiment, error) {
	return e.Stop(ctx, scope, in.Experiment, in.Body.Reason)
}
