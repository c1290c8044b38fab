package gateway

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/events"
)

// fakeEvents takes everything. What is told the tenant alone notes a scope of it.
type fakeEvents struct{ *fakes }

func (f fakeEvents) Accept(ctx context.Context, tenant string, batch []events.Event) (events.Accepted, error) {
	return events.Accepted{Accepted: len(batch)}, f.note(ctx, access.Scope{Tenant: tenant})
}

func (f fakeEvents) DeleteClient(ctx context.Context, tenant, _ string) (events.Deleted, error) {
	return events.Deleted{}, f.note(ctx, access.Scope{Tenant: tenant})
}

func (f fakeEvents) Analytics(
	ctx context.Context, scope access.Scope, _ events.AnalyticsRequest,
) (*events.Analytics, error) {
	return &events.Analytics{}, f.note(ctx, scope)
}

func (f fakeEvents) Judge(ctx context.Context, scope access.Scope, req clicks.Request) (*clicks.Report, error) {
	return &clicks.Report{}, f.note(ctx, scope, req.KnowledgeBases...)
}
