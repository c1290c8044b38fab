package main

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/cmd/hybridge/demo"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

const (
	demoID       = "docs"
	demoQuestion = "如何调整关键词和向量的权重"
)

// demoRetry is the wait while a back end is unavailable.
const demoRetry = 10 * time.Second

// retryDemo fills the demo knowledge base. It repeats that while a back end is unavailable.
func (a *App) retryDemo(ctx context.Context) {
	for {
		err := a.fillDemo(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.log.Error("the demo knowledge base is not complete", "error", err)
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
func (a *App) fillDemo(ctx context.Context) error {
	dimensions, model, err := a.model.dimensions(ctx)
	if err != nil {
		return err
	}
	return demo.Fill(ctx, demo.Options{
		Catalog: a.catalog, Pipeline: a.pipeline, Documents: a.demoPages,
		Scope: access.Scope{Tenant: a.demoTenant()}, ID: demoID, Name: "Hybridge documentation",
		Dimensions: dimensions, Model: model, Logger: a.log,
	})
}

// demoTenant is the tenant of the first key.
func (a *App) demoTenant() string {
	if len(a.config.Keys) > 0 {
		return a.config.Keys[0].Tenant
	}
	return gateway.DefaultTenant
}
