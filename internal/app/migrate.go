package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// openMigration makes the service that changes the shape of knowledge bases. Its relevance gate
// searches as any request does.
func (a *App) openMigration(searching search.Options) {
	if keeper := a.recordKeeper(); keeper != nil {
		alone := cmp.Or(a.defaultEngine(), a.engines[0].Name()) == EmbeddedName // one process has its data
		a.jobs = jobs.Open(jobs.Options{Keeper: keeper, Alone: alone, Logger: a.Logger})
	} else {
		a.jobs = jobs.New()
	}
	a.mappings = migration.New(migration.Options{
		Catalog: a.catalog, Jobs: a.jobs, Logger: a.Logger, ModelDimensions: a.modelDimensions,
		Answer: func(
			ctx context.Context, kb engine.KnowledgeBase, e engine.Engine, query string, k int,
		) ([]string, error) {
			options := searching
			options.Catalog = singleCatalog{kb, e}
			return searchIDs(ctx, search.New(options), &kb, search.Request{Query: query, Plain: true, TopK: &k})
		},
	})
}

// searchIDs returns the ids of the hits. A degraded answer is an error.
func searchIDs(
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

// singleCatalog is a catalog of one knowledge base in one of its shapes.
type singleCatalog struct {
	kb     engine.KnowledgeBase
	engine engine.Engine
}

// Get implements search.Catalog.
func (o singleCatalog) Get(context.Context, access.Scope, string) (engine.KnowledgeBase, engine.Engine, error) {
	return o.kb, o.engine, nil
}

// modelNamed returns a configured model, the usual one for an empty name; nil without one.
func (a *App) modelNamed(name string) *Model {
	switch {
	case a.models[name] != nil:
		return a.models[name]
	case a.model != nil && (name == "" || name == a.model.Model()):
		return a.model
	default:
		return nil
	}
}

// modelNames are those of all configured models.
func (a *App) modelNames() []string {
	names := slices.Sorted(maps.Keys(a.models))
	if a.model != nil {
		names = slices.Insert(names, 0, a.model.Model())
	}
	return names
}

// dimensions are those of a configured model, with its name; see catalog.Options.
func (a *App) dimensions(ctx context.Context, name string) (int, string, error) {
	return a.modelNamed(name).dimensions(ctx)
}

// modelDimensions returns the dimensions of a model, which must be a configured one.
func (a *App) modelDimensions(ctx context.Context, name string) (int, error) {
	m, all := a.modelNamed(name), a.modelNames()
	switch {
	case m == nil && len(all) == 0:
		return 0, fault.Invalid("changes.embedding_model", name, "left out: no embedding model is configured")
	case m == nil:
		return 0, fault.Invalid("changes.embedding_model", name, "a configured model: "+strings.Join(all, ", "))
	}
	n, _, err := m.dimensions(ctx)
	return n, err
}

// embedFor embeds texts for a knowledge base that changes its model.
func (a *App) embedFor(ctx context.Context, name string, texts []string) ([][]float32, error) {
	m := a.modelNamed(name)
	if m == nil {
		return nil, fault.New(fault.Unsupported, "embedding model %q is not a configured one", name)
	}
	return m.Passages(ctx, texts)
}
