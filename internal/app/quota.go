package app

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/engine"
)

// usageKeeper is an engine that counts what tenants write beside its knowledge bases.
type usageKeeper interface{ Usage() quota.Store }

// openQuota opens the meter of tenants, which counts where new knowledge bases are: on an engine
// that keeps such counts, or in the data directory.
func (a *App) openQuota(ctx context.Context) (err error) {
	var store quota.Store
	if keeper, ok := a.Engine(a.defaultEngine()).(usageKeeper); ok {
		store = keeper.Usage()
	}
	if store == nil {
		if a.usageFile, err = quota.OpenSQLite(ctx, a.Config.DataDir); err != nil {
			return err
		}
		store = a.usageFile
	}
	l := &a.Config.Limits
	a.quota = quota.New(quota.Options{
		Limits: quota.Limits{
			Bytes: int64(l.TenantBytesADay), KnowledgeBases: int64(l.TenantKnowledgeBases), Chunks: int64(l.TenantChunks),
		},
		Store: store, Count: a.countTenant, Logger: a.Logger,
	})
	return nil
}

// countTenant counts the knowledge bases of a tenant, and their chunks: of one on several engines on
// each.
func (a *App) countTenant(ctx context.Context, tenant string) (has quota.Counts, err error) {
	bases, err := a.catalog.List(ctx, access.Scope{Tenant: tenant})
	if err != nil {
		return has, err
	}
	has.KnowledgeBases = int64(len(bases))
	for _, e := range a.engines {
		counter, ok := e.(engine.ChunkCounter)
		if !ok || !slices.ContainsFunc(bases, func(kb engine.KnowledgeBase) bool {
			return kb.Engine == e.Name() || slices.Contains(kb.Engines, e.Name())
		}) {
			continue
		}
		n, err := counter.CountChunks(ctx, tenant)
		if err != nil {
			return has, err
		}
		has.Chunks += n
	}
	return has, nil
}
