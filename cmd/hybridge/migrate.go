package main

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// openMigration lets knowledge bases change shape; the relevance gate asks as
// any search does.
func (a *App) openMigration(searching search.Options) {
	a.jobs = jobs.New()
	a.mappings = migration.New(migration.Options{
		Catalog: a.catalog, Jobs: a.jobs, Logger: a.log, ModelDimensions: a.modelDimensions,
		Answer: func(
			ctx context.Context, kb engine.KnowledgeBase, e engine.Engine, query string, k int,
		) ([]string, error) {
			own := searching
			own.Catalog = oneBase{kb, e}
			return answerOf(ctx, search.New(own), &kb, search.Request{Query: query, Plain: true, TopK: &k})
		},
	})
}

func answerOf(
	ctx context.Context, s *search.Searcher, kb *engine.KnowledgeBase, req search.Request,
) ([]string, error) {
	req.KnowledgeBases = []string{kb.ID}
	response, err := s.Search(ctx, access.Scope{Tenant: kb.Tenant}, req)
	if err != nil {
		return nil, err
	}
	if len(response.Degraded) > 0 {
		return nil, fault.New(fault.Unavailable, "the relevance gate needs whole answers: %s", response.Degraded[0].Reason)
	}
	ids := make([]string, len(response.Hits))
	for i := range response.Hits {
		ids[i] = response.Hits[i].ID
	}
	return ids, nil
}

// oneBase is a catalog of one knowledge base in one of its shapes.
type oneBase struct {
	kb     engine.KnowledgeBase
	engine engine.Engine
}

// Get implements search.Catalog.
func (o oneBase) Get(context.Context, access.Scope, string) (engine.KnowledgeBase, engine.Engine, error) {
	return o.kb, o.engine, nil
}

// modelDimensions tells the dimension of the configured model.
func (a *App) modelDimensions(ctx context.Context, model string) (int, error) {
	n, name, err := a.model.dimensions(ctx)
	if err != nil {
		return 0, err
	}
	if model != name {
		return 0, fault.Invalid("changes.embedding_model", model, "the configured one, "+name)
	}
	return n, nil
}

// embedFor makes the vectors of a knowledge base that changes its model.
func (a *App) embedFor(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if a.model == nil || a.model.Model() != model {
		return nil, fault.New(fault.Unsupported, "embedding model %q is not the configured one", model)
	}
	return a.model.Passages(ctx, texts)
}
