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

type tuningInput struct {
	Tuning string `path:"tuning" doc:"Id of the tuning."`
}

func (in tuningInput) id() string { return in.Tuning }

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
	}, withBody(Tunings.Start))
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodGet, Path: tuningsPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-tunings", Summary: "List tunings",
		About: "Those whose knowledge bases the key sees.",
	}, listing(Tunings.List, func(all []runs.Tuning) *TuningList {
		return &TuningList{all}
	}))
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodGet, Path: tuningPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "get-tuning", Summary: "Get a tuning: its state, what was found, and the preset that is recommended",
		About: "definition is what PUT /v1/presets/{name} takes: it says of which data the preset is and how much better.",
	}, byID[tuningInput](Tunings.Get))
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodDelete, Path: tuningPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusNoContent, ID: "delete-tuning", Summary: "Delete a tuning",
		About: "One that is running is a conflict: cancel it first. A preset that was saved of it stays.",
	}, deleting[tuningInput](Tunings.Delete))
	endpoint.RegisterWith(api, tunings, endpoint.Route{
		Method: http.MethodPost, Path: tuningPath + "/cancel", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Manage, Status: http.StatusAccepted, ID: "cancel-tuning",
		Summary: "Cancel a tuning that this gateway runs",
		About:   "It gives no result.",
	}, byID[tuningInput](Tunings.Cancel))
}
