package app

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app/demo"
)

// The knowledge base of the demo, and a question that it answers.
const (
	DemoID       = "docs"
	DemoQuestion = "如何调整关键词和向量的权重"
)

// demoRetry is the wait while a back end is unavailable.
const demoRetry = 10 * time.Second

// demoData fills the knowledge base of the demo.
type demoData struct {
	*Options
	*parts
}

// retry fills the demo knowledge base. It repeats that while a back end is unavailable.
func (d demoData) retry(ctx context.Context) {
	for {
		err := d.fill(ctx, access.Scope{Tenant: d.demoTenant()}, nil)
		if err == nil || ctx.Err() != nil {
			return
		}
		d.Logger.Error("the demo knowledge base is not complete", "error", err)
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

// fill brings the demo knowledge base up to date with the documentation of this version.
// It waits for the model, because adding vectors later would mean ingesting twice.
func (d demoData) fill(ctx context.Context, scope access.Scope, progress func(done, total int)) error {
	dimensions, model, err := d.models.standard.dimensions(ctx)
	if err != nil {
		return err
	}
	return demo.Fill(ctx, demo.Options{
		Catalog: d.content.catalog, Pipeline: d.content.pipeline, Documents: d.Demo,
		Scope: scope, ID: DemoID, Name: "Hybridge documentation",
		Dimensions: dimensions, Model: model, Logger: d.Logger, Progress: progress,
	})
}

// demoJob is the kind of the jobs that load the demo.
const demoJob = "demo"

// Load implements gateway.Demo.
func (d demoData) Load(ctx context.Context, scope access.Scope) (jobs.Job, error) {
	for _, job := range d.content.jobs.List(scope.Tenant) {
		if job.Kind == demoJob && job.State == jobs.Running && scope.Allows(DemoID) {
			return job, nil
		}
	}
	settle := func(bool) {}
	switch _, err := d.content.catalog.Describe(ctx, scope, DemoID); {
	case fault.Is(err, fault.NotFound) && !scope.Allows(DemoID):
		return jobs.Job{}, fault.New(fault.Forbidden, "this key is not for knowledge base %q, which has the sample data",
			DemoID)
	case fault.Is(err, fault.NotFound):
		if settle, err = d.door.quota.Create(ctx, scope.Tenant); err != nil {
			return jobs.Job{}, err
		}
	case err != nil:
		return jobs.Job{}, err
	}
	// The id is unique to the tenant, so that two who ask at once do not fill it twice.
	job := jobs.Job{ID: demoJob + "-" + scope.Tenant, Kind: demoJob, Tenant: scope.Tenant, KnowledgeBase: DemoID}
	started, err := d.content.jobs.Start(job, func(ctx context.Context, report func(jobs.Progress)) error {
		err := d.fill(ctx, scope, func(done, total int) {
			report(jobs.Progress{Step: "write", Done: done, Total: total})
		})
		_, _, found := d.content.catalog.Get(ctx, scope, DemoID)
		settle(err == nil || !fault.Is(found, fault.NotFound))
		return err
	})
	if fault.Is(err, fault.Conflict) {
		settle(false)
		return d.content.jobs.Get(scope.Tenant, job.ID)
	}
	if err != nil {
		settle(false)
	}
	return started, err
}
