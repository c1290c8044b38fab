package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

var (
	_ Mappings = (*migration.Service)(nil)
	_ Jobs     = (*jobs.Manager)(nil)
)

// fakeMappings hold a migration that can be rolled back.
type fakeMappings struct{ *fakes }

func (f fakeMappings) migration(ctx context.Context, scope access.Scope, kb string) (*engine.Migration, error) {
	return &engine.Migration{ID: "m1", State: engine.MigrationSwitched}, f.note(ctx, scope, kb)
}

func (f fakeMappings) Desired(ctx context.Context, scope access.Scope, kb string) (json.RawMessage, error) {
	return json.RawMessage(`{"settings":{}}`), f.note(ctx, scope, kb)
}

func (f fakeMappings) Live(ctx context.Context, scope access.Scope, kb string) (json.RawMessage, error) {
	return f.Desired(ctx, scope, kb)
}

func (f fakeMappings) Diff(
	ctx context.Context, scope access.Scope, kb string, _ migration.Change,
) (*engine.MappingDiff, error) {
	return &engine.MappingDiff{Class: engine.ChangeInPlace, Changes: []engine.MappingChange{{
		Path: "mappings.dynamic", Class: engine.ChangeInPlace, Code: "setting", Reason: "can be set while the index is in use",
	}}}, f.note(ctx, scope, kb)
}

func (f fakeMappings) Plan(
	ctx context.Context, who migration.Caller, kb string, _ migration.Request,
) (*engine.MappingPlan, error) {
	return &engine.MappingPlan{ID: "p1", CreatedBy: who.Key}, f.note(ctx, who.Scope, kb)
}

func (f fakeMappings) Apply(ctx context.Context, who migration.Caller, kb, _ string) (*engine.Migration, error) {
	return f.migration(ctx, who.Scope, kb)
}

func (f fakeMappings) Status(ctx context.Context, scope access.Scope, kb string) (*engine.Migration, error) {
	return f.migration(ctx, scope, kb)
}

func (f fakeMappings) Direct(
	ctx context.Context, who migration.Caller, kb string, _ migration.Order,
) (*engine.Migration, error) {
	return f.migration(ctx, who.Scope, kb)
}

func (f fakeMappings) Throttle(
	ctx context.Context, scope access.Scope, kb string, _ float64,
) (*engine.Migration, error) {
	return f.migration(ctx, scope, kb)
}

func (f fakeMappings) History(ctx context.Context, scope access.Scope, kb string, _ int) ([]engine.Migration, error) {
	return []engine.Migration{}, f.note(ctx, scope, kb)
}

// fakeJobs hold one job of every tenant, over "manuals", that ends when watched.
type fakeJobs struct{}

func (fakeJobs) Start(job jobs.Job, _ jobs.Work) (jobs.Job, error) {
	job.ID, job.State, job.Errors = "j1", jobs.Running, []jobs.JobError{}
	return job, nil
}

func (fakeJobs) Find(_ context.Context, _, id string) (jobs.Job, error) {
	if id != "j1" {
		return jobs.Job{}, fault.New(fault.NotFound, "no such job")
	}
	return jobs.Job{
		ID: id, Kind: "test", KnowledgeBase: base, State: jobs.Running,
		Errors: []jobs.JobError{{Code: fault.Timeout, Detail: "Elasticsearch took too long"}},
	}, nil
}

func (f fakeJobs) List(tenant string) []jobs.Job {
	job, _ := f.Find(context.Background(), tenant, "j1") // it is there
	return []jobs.Job{job}
}

func (f fakeJobs) All(_ context.Context, tenant string) []jobs.Job { return f.List(tenant) }

func (f fakeJobs) Cancel(tenant, id string) (jobs.Job, error) {
	return f.Find(context.Background(), tenant, id)
}

func (f fakeJobs) Watch(ctx context.Context, tenant, id string, see func(jobs.Job) error) error {
	job, err := f.Find(ctx, tenant, id)
	for _, state := range []jobs.State{jobs.Running, jobs.Succeeded} {
		job.State = state
		if err == nil {
			err = see(job)
		}
	}
	return err
}

func TestMappingsAndJobs(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("full", "acme"), key("elsewhere", "acme", "other")}}})
	f := func(key, method, path, body string, status int, contains string) {
		t.Helper()
		headers := []string{"X-API-Key: " + key}
		if body != "" {
			headers = append(headers, asJSON)
		}
		got := g.ask(method, path, body, headers...)
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%s %s: %d %s; want %d with %s", method, path, got.status, brief.Of(got.body), status, contains)
		}
	}
	f("full", "GET", "/v1/mappings/manuals/desired", "", 200, `"mapping":{"settings":{}}`)
	f("full", "POST", "/v1/mappings/manuals/plan", `{"changes": {"vector_index": "flat"}}`, 201, `"created_by":"full"`)
	f("full", "POST", "/v1/mappings/manuals/plan", `{"changes": {"colour": 1}}`, 400, `"field":"changes.colour"`)
	f("full", "POST", "/v1/mappings/manuals/apply", `{"plan": "p1"}`, 202, `"id":"m1"`)
	f("full", "POST", "/v1/mappings/manuals/apply", `{"plan": ""}`, 400, `"field":"plan"`)
	f("full", "GET", "/v1/mappings/manuals/status", "", 200, `"actions":["rollback","cleanup"]`)
	f("full", "POST", "/v1/mappings/manuals/rollback", "", 202, `"state":"switched"`)
	f("full", "GET", "/v1/mappings/nothing/status", "", 404, `"code":"not_found"`)
	f("full", "GET", "/v1/jobs", "", 200, `"id":"j1"`)
	f("full", "GET", "/v1/jobs/j1", "", 200, `"state":"running"`)
	f("full", "GET", "/v1/jobs/j2", "", 404, `"code":"not_found"`)
	f("full", "GET", "/v1/jobs/j1/events", "", 200, "event: job\ndata: {\"id\":\"j1\"")
	f("full", "GET", "/v1/jobs/j1/events", "", 200, `"state":"succeeded"`)
	f("full", "GET", "/v1/jobs/j2/events", "", 404, `"code":"not_found"`)
	f("full", "POST", "/v1/jobs/j1/cancel", "", 202, `"id":"j1"`)
	f("elsewhere", "GET", "/v1/jobs", "", 200, `{"jobs":[]}`)
	f("elsewhere", "GET", "/v1/jobs/j1", "", 404, `"code":"not_found"`)
	f("elsewhere", "GET", "/v1/jobs/j1/events", "", 404, `"code":"not_found"`)
	f("elsewhere", "POST", "/v1/jobs/j1/cancel", "", 404, `"code":"not_found"`)
}
