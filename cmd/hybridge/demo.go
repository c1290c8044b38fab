package main

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/cmd/hybridge/demo"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

const (
	demoID       = "docs"
	demoQuestion = "如何调整关键词和向量的权重"
)

// demoAgain is after a back end was away.
const demoAgain = 10 * time.Second

// keepDemo fills the demo knowledge base, again and again while a back end that
// this needs is away.
func (a *App) keepDemo(ctx context.Context) {
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
		case <-time.After(demoAgain):
		case <-ctx.Done():
			return
		}
	}
}

// fillDemo makes the demo knowledge base what this version's documentation is.
// It waits for the model: vectors later would mean everything twice.
func (a *App) fillDemo(ctx context.Context) error {
	dimensions, model, err := a.model.dimensions(ctx)
	if err != nil {
		return err
	}
	return demo.Fill(ctx, demo.Options{
		Catalog: a.catalog, Pipeline: a.pipeline, Documents: docs.Guide(),
		Scope: access.Scope{Tenant: a.demoTenant()}, ID: demoID, Name: "Hybridge documentation",
		Dimensions: dimensions, Model: model, Logger: a.log,
	})
}

// demoTenant is the one whose key comes first.
func (a *App) demoTenant() string {
	if len(a.config.Keys) > 0 {
		return a.config.Keys[0].Tenant
	}
	return gateway.DefaultTenant
}
