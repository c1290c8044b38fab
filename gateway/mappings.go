package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Mappings plans and carries out changes of the shape of knowledge bases.
type Mappings interface {
	Desired(ctx context.Context, scope access.Scope, kb string) (json.RawMessage, error)
	Live(ctx context.Context, scope access.Scope, kb string) (json.RawMessage, error)
	Diff(ctx context.Context, scope access.Scope, kb string, change migration.Change) (*engine.MappingDiff, error)
	Plan(ctx context.Context, who migration.Caller, kb string, req migration.Request) (*engine.MappingPlan, error)
	Apply(ctx context.Context, who migration.Caller, kb, plan string) (*engine.Migration, error)
	Status(ctx context.Context, scope access.Scope, kb string) (*engine.Migration, error)
	Direct(ctx context.Context, who migration.Caller, kb string, order migration.Order) (*engine.Migration, error)
	Throttle(ctx context.Context, scope access.Scope, kb string, perSecond float64) (*engine.Migration, error)
	History(ctx context.Context, scope access.Scope, kb string, limit int) ([]engine.Migration, error)
}

// MappingBody is a mapping as the engine has it.
type MappingBody struct {
	KnowledgeBase string          `json:"knowledge_base"`
	Mapping       json.RawMessage `json:"mapping" doc:"As the engine writes it: settings and mappings of an index."`
}

// MappingStatus is the state of a knowledge base's migration.
type MappingStatus struct {
	KnowledgeBase string            `json:"knowledge_base"`
	State         string            `json:"state" enum:"none,running,failed,switched,done,cancelled,rolled_back" doc:"none: nothing was ever applied."`
	Active        bool              `json:"active" doc:"A migration is under way, or waits for cleanup, rollback, resume or cancel."`
	Actions       []string          `json:"actions" doc:"What may be posted now: cancel, resume, rollback, cleanup."`
	Migration     *engine.Migration `json:"migration,omitempty" doc:"The one under way, or the last one."`
}

// MappingHistory lists applied mappings.
type MappingHistory struct {
	Migrations []engine.Migration `json:"migrations" doc:"Latest first."`
}

type diffInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body migration.Change
}

type planInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body migration.Request
}

// ApplyRequest names a plan.
type ApplyRequest struct {
	Plan string `json:"plan" doc:"Id of the plan. It is refused when it was applied, or when the index has changed since."`
}

type applyInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body ApplyRequest
}

// ThrottleRequest limits the copy.
type ThrottleRequest struct {
	PerSecond float64 `json:"requests_per_second" minimum:"0" doc:"Documents copied per second; 0: no limit."`
}

type throttleInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body ThrottleRequest
}

type historyInput struct {
	KB    string `path:"kb" doc:"Id of the knowledge base."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many."`
}

const (
	mappingsPath = "/v1/mappings/{kb}"
	mappingsTag  = "mappings"
)

func registerMappings(api *endpoint.API, mappings Mappings) {
	managed := endpoint.Need(mappings, errNoMappings)
	registerMappingReads(api, managed)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodPost, Path: mappingsPath + "/plan", Tag: mappingsTag, Access: endpoint.Governs, Role: keys.Manage,
		Dry: true, Status: http.StatusCreated,
		ID: "plan-mapping", Summary: "Plan a change of the schema, or the repair of drift (dry run)",
		About: "Tells the changes, their classes, what they would cost and the steps; nothing is changed.",
	}, planMapping)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodPost, Path: mappingsPath + "/apply", Tag: mappingsTag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusAccepted, ID: "apply-mapping", Summary: "Apply a plan as a job",
		About: "The job has the id of the answer: /v1/jobs/{id} and its events tell the progress. A second call with the " +
			"same plan is a conflict.",
	}, applyMapping)
	for _, order := range []struct {
		order          migration.Order
		summary, about string
	}{
		{migration.Resume, "Go on with a migration that failed", "From the step that failed; what is done is not repeated."},
		{
			migration.Cancel, "Cancel a migration before the switch",
			"The knowledge base stays with the index it has; the new one is deleted.",
		},
		{
			migration.Rollback, "Go back to the index from before the switch",
			"Possible until cleanup; writes since the switch are kept.",
		},
		{migration.Cleanup, "Delete the index from before the switch", "After this there is no way back but another plan."},
	} {
		endpoint.RegisterWith(api, managed, endpoint.Route{
			Method: http.MethodPost, Path: mappingsPath + "/" + string(order.order), Tag: mappingsTag,
			Access: endpoint.Governs, Role: keys.Manage,
			Status: http.StatusAccepted, ID: string(order.order) + "-mapping", Summary: order.summary, About: order.about,
		}, func(
			ctx context.Context, mappings Mappings, scope access.Scope, in *knowledgeBaseInput,
		) (*engine.Migration, error) {
			return mappings.Direct(ctx, callerOf(ctx, scope), in.KB, order.order)
		})
	}
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodPost, Path: mappingsPath + "/throttle", Tag: mappingsTag, Access: endpoint.Governs,
		Role:   keys.Manage,
		Status: http.StatusAccepted, ID: "throttle-mapping", Summary: "Limit how fast documents are copied",
		About: "Documents a second, of a copy that runs; 0 lifts the limit.",
	}, throttleMapping)
}

func registerMappingReads(api *endpoint.API, managed func() (Mappings, error)) {
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodGet, Path: mappingsPath + "/desired", Tag: mappingsTag, Access: endpoint.Governs,
		Role: keys.Manage, ID: "desired-mapping", Summary: "The mapping that the schema wants",
		About: "What apply would make, for the engine of the knowledge base.",
	}, desiredMapping)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodGet, Path: mappingsPath + "/live", Tag: mappingsTag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "live-mapping", Summary: "The mapping that the index has",
		About: "As the engine tells it now.",
	}, liveMapping)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodPost, Path: mappingsPath + "/diff", Tag: mappingsTag, Access: endpoint.Governs, Role: keys.Manage,
		Dry: true, ID: "diff-mapping", Summary: "Compare the live mapping with a schema, field by field",
		About: "With an empty object: with the knowledge base's own schema.",
	}, diffMapping)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodGet, Path: mappingsPath + "/status", Tag: mappingsTag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "mapping-status", Summary: "How a migration stands, and what may be done next",
		About: "Whether one runs, is held up by a gate or waits for a decision, and which of resume, cancel, " +
			"rollback and cleanup may be asked for.",
	}, mappingStatus)
	endpoint.RegisterWith(api, managed, endpoint.Route{
		Method: http.MethodGet, Path: mappingsPath + "/history", Tag: mappingsTag, Access: endpoint.Governs,
		Role: keys.Manage, ID: "mapping-history", Summary: "What was applied, when and by which key",
		About: "The newest first.",
	}, mappingHistory)
}

var errNoMappings = fault.New(fault.Unsupported, "this gateway manages no mappings")

// callerOf returns the caller, for the history.
func callerOf(ctx context.Context, scope access.Scope) migration.Caller {
	caller := migration.Caller{Scope: scope}
	if x := endpoint.ExchangeIn(ctx); x != nil {
		caller.Key = x.Key
	}
	return caller
}

func desiredMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *knowledgeBaseInput,
) (*MappingBody, error) {
	body, err := mappings.Desired(ctx, scope, in.KB)
	return &MappingBody{in.KB, body}, err
}

func liveMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *knowledgeBaseInput,
) (*MappingBody, error) {
	body, err := mappings.Live(ctx, scope, in.KB)
	return &MappingBody{in.KB, body}, err
}

func diffMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *diffInput,
) (*engine.MappingDiff, error) {
	return mappings.Diff(ctx, scope, in.KB, in.Body)
}

func planMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *planInput,
) (*engine.MappingPlan, error) {
	return mappings.Plan(ctx, callerOf(ctx, scope), in.KB, in.Body)
}

func applyMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *applyInput,
) (*engine.Migration, error) {
	if in.Body.Plan == "" {
		return nil, fault.Invalid("plan", in.Body.Plan, "the id of a plan, from "+mappingsPath+"/plan")
	}
	return mappings.Apply(ctx, callerOf(ctx, scope), in.KB, in.Body.Plan)
}

func throttleMapping(
	ctx context.Context, mappings Mappings, scope access.Scope, in *throttleInput,
) (*engine.Migration, error) {
	return mappings.Throttle(ctx, scope, in.KB, in.Body.PerSecond)
}

func mappingStatus(
	ctx context.Context, mappings Mappings, scope access.Scope, in *knowledgeBaseInput,
) (*MappingStatus, error) {
	m, err := mappings.Status(ctx, scope, in.KB)
	answer := &MappingStatus{KnowledgeBase: in.KB, State: "none", Actions: []string{}}
	if err != nil || m == nil {
		return answer, err
	}
	answer.State, answer.Migration = m.State, m
	for _, order := range migration.Orders(m) {
		answer.Actions = append(answer.Actions, string(order))
	}
	answer.Active = m.Active() || len(answer.Actions) > 0
	return answer, nil
}

func mappingHistory(
	ctx context.Context, mappings Mappings, scope access.Scope, in *historyInput,
) (*MappingHistory, error) {
	list, err := mappings.History(ctx, scope, in.KB, in.Limit)
	return &MappingHistory{Migrations: list}, err
}
