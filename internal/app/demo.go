package app

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/app/demo"
)

const (
	DemoID       = "docs"
	DemoQuestion = "如何调整关键词和向量的权重"
)

// demoRetry is the wait while a back end is unavailable.
const demoRetry = 10 * time.Second

// retryDemo fills the demo knowledge base. It repeats that while a back end is unavailable.
func (a *App) retryDemo(ctx context.Context) {
	for {
		err := a.fillDemo(ctx, access.Scope{Tenant: a.demoTenant()}, nil)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.Logger.Error("the demo knowledge base is not complete", "error", err)
		if !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Timeout) {
			return
		}
		select {
		case <-time.After(demoRetry):
		case <-ctx.Done():
			return
		}
	}
}

// fillDemo brings the demo knowledge base up to date with the documentation of this version.
// It waits for the model, because adding vectors later would mean ingesting twice.
func (a *App) fillDemo(ctx context.Context, scope access.Scope, progress func(done, total int)) error {
	dimensions, model, err := a.model.dimensions(ctx)
	if err != nil {
		return err
	}
	return demo.Fill(ctx, demo.Options{
		Catalog: a.catalog, Pipeline: a.pipeline, Documents: a.Demo,
		Scope: scope, ID: DemoID, Name: "Hybridge documentation",
		Dimensions: dimensions, Model: model, Logger: a.Logger, Progress: progress,
	})
}

// demoJob is the kind of the jobs that load the demo.
const demoJob = "demo"

// Load implements gateway.Demo.
func (a *App) Load(ctx context.Context, scope access.Scope) (jobs.Job, error) {
	for _, job := range a.jobs.List(scope.Tenant) {
		if job.Kind == demoJob && job.State == jobs.Running && scope.Allows(DemoID) {
			return job, nil
		}
	}
	settle := func(bool) {}
	switch _, err := a.catalog.Describe(ctx, scope, DemoID); {
	case fault.Is(err, fault.NotFound) && !scope.Allows(DemoID):
		return jobs.Job{}, fault.New(fault.Forbidden, "this key is not for knowledge base %q, which has the sample data",
			DemoID)
	case fault.Is(err, fault.NotFound):
		if settle, err = a.quota.Create(ctx, scope.Tenant); err != nil {
			return jobs.Job{}, err
		}
	case err != nil:
		return jobs.Job{}, err
	}
	// The id is that of the tenant's, so that two who ask at once do not fill it twice.
	job := jobs.Job{ID: demoJob + "-" + scope.Tenant, Kind: demoJob, Tenant: scope.Tenant, KnowledgeBase: DemoID}
	started, err := a.jobs.Start(job, func(ctx context.Context, report func(jobs.Progress)) error {
		err := a.fillDemo(ctx, scope, func(done, total int) {
			report(jobs.Progress{Step: "write", Done: done, Total: total})
		})
		_, _, found := a.catalog.Get(ctx, scope, DemoID)
		settle(err == nil || !fault.Is(found, fault.NotFound))
		return err
	})
	if fault.Is(err, fault.Conflict) {
		settle(false)
		return a.jobs.Get(scope.Tenant, job.ID)
	}
	if err != nil {
		settle(false)
	}
	return started, err
}

// demoTenant is the tenant of the first key.
func (a *App) demoTenant() string {
	if len(a.Config.Keys) > 0 {
		return a.Config.Keys[0].Tenant
	}
	return gateway.DefaultTenant
}
