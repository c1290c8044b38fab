package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Tunings search better weights by query sets.
type Tunings interface {
	Start(ctx context.Context, scope access.Scope, req runs.TuningRequest) (*runs.Tuning, error)
	Cancel(ctx context.Context, scope access.Scope, id string) (*runs.Tuning, error)
	List(ctx context.Context, scope access.Scope) ([]runs.Tuning, error)
	Get(ctx context.Context, scope access.Scope, id string) (*runs.Tuning, error)
	Delete(ctx context.Context, scope access.Scope, id string) error
}

// TuningList is the answer to listing them.
type TuningList struct {
	Tunings []runs.Tuning `json:"tunings" nullable:"false" doc:"The latest first."`
}

type startTuningInput struct {
	Body runs.TuningRequest
}

type tuningInput struct {
	Tuning string `path:"tuning" doc:"Id of the tuning."`
}

const (
	tuningsPath = "/v1/tunings"
	tuningPath  = tuningsPath + "/{tuning}"
)

var errNoTunings = fault.New(fault.Unsupported,
	"this gateway keeps no tunings: its default engine has no place for them")

func registerTunings(api *endpoint.API, store Tunings) {
	tunings := endpoint.Need(store, errNoTunings)
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodPost, Path: tuningsPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusAccepted,
		ID:     "start-tuning", Summary: "Search better weights for a preset on a query set, as a job",
		About: "Every query is asked once for each way of retrieving, all else is tried in memory. What is found is " +
			"measured on queries that it was not chosen by, and recommended if it is better beyond chance. The job has the " +
			"id of the answer.",
	}, startTuning)
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodGet, Path: tuningsPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-tunings", Summary: "List tunings",
		About: "Those whose knowledge bases the key sees.",
	}, listTunings)
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodGet, Path: tuningPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "get-tuning", Summary: "Get a tuning: its state, what was found, and the preset that is recommended",
		About: "definition is what PUT /v1/presets/{name} takes: it says of which data the preset is and how much better.",
	}, getTuning)
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodDelete, Path: tuningPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusNoContent, ID: "delete-tuning", Summary: "Delete a tuning",
		About: "One that is running is a conflict: cancel it first. A preset that was saved of it stays.",
	}, deleteTuning)
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodPost, Path: tuningPath + "/cancel", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Manage, Status: http.StatusAccepted, ID: "cancel-tuning",
		Summary: "Cancel a tuning that this gateway runs",
		About:   "It gives no result.",
	}, cancelTuning)
}

func startTuning(ctx context.Context, t Tunings, scope access.Scope, in *startTuningInput) (*runs.Tuning, error) {
	return t.Start(ctx, scope, in.Body)
}

func listTunings(ctx context.Context, t Tunings, scope access.Scope, _ *struct{}) (*TuningList, error) {
	all, err := t.List(ctx, scope)
	return &TuningList{all}, err
}

func getTuning(ctx context.Context, t Tunings, scope access.Scope, in *tuningInput) (*runs.Tuning, error) {
	return t.Get(ctx, scope, in.Tuning)
}

func deleteTuning(ctx context.Context, t Tunings, scope access.Scope, in *tuningInput) (*struct{}, error) {
	return nil, t.Delete(ctx, scope, in.Tuning)
}

func cancelTuning(ctx context.Context, t Tunings, scope access.Scope, in *tuningInput) (*runs.Tuning, error) {
	return t.Cancel(ctx, scope, in.Tuning)
}
