package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
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

func (s *Server) tunings() (Tunings, error) {
	if s.options.Tunings == nil {
		return nil, errNoTunings
	}
	return s.options.Tunings, nil
}

func (s *Server) tuningRoutes() {
	registerWith(s, s.tunings, route{
		method: http.MethodPost, path: tuningsPath, tag: evaluationTag, access: governs, role: keys.Manage,
		status: http.StatusAccepted,
		id:     "start-tuning", summary: "Search better weights for a preset on a query set, as a job",
		about: "Every query is asked once for each way of retrieving, all else is tried in memory. What is found is " +
			"measured on queries that it was not chosen by, and recommended if it is better beyond chance. The job has the " +
			"id of the answer.",
	}, startTuning)
	registerWith(s, s.tunings, route{
		method: http.MethodGet, path: tuningsPath, tag: evaluationTag, access: reads, whole: true,
		id: "list-tunings", summary: "List tunings",
		about: "Those whose knowledge bases the key sees.",
	}, listTunings)
	registerWith(s, s.tunings, route{
		method: http.MethodGet, path: tuningPath, tag: evaluationTag, access: reads, whole: true,
		id: "get-tuning", summary: "Get a tuning: its state, what was found, and the preset that is recommended",
		about: "definition is what PUT /v1/presets/{name} takes: it says of which data the preset is and how much better.",
	}, getTuning)
	registerWith(s, s.tunings, route{
		method: http.MethodDelete, path: tuningPath, tag: evaluationTag, access: governs, role: keys.Manage,
		status: http.StatusNoContent,
		id:     "delete-tuning", summary: "Delete a tuning",
		about: "One that is running is a conflict: cancel it first. A preset that was saved of it stays.",
	}, deleteTuning)
	registerWith(s, s.tunings, route{
		method: http.MethodPost, path: tuningPath + "/cancel", tag: evaluationTag, access: governs, role: keys.Manage,
		status: http.StatusAccepted,
		id:     "cancel-tuning", summary: "Cancel a tuning that this gateway runs",
		about: "It gives no result.",
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
