package app

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/ingest/parse/pool"
	"github.com/hybridge-search/hybridge/search"
)

// content is the knowledge bases with their ingestion and migrations.
type content struct {
	catalog  *catalog.Catalog
	pipeline *ingest.Pipeline
	parsers  *pool.Pool // of the pipeline
	jobs     *jobs.Manager
	mappings *migration.Service
}

func (c *content) openCatalog(o *Options, s *storage, m *models) {
	c.catalog = catalog.New(s.engines, catalog.Options{
		DefaultEngine: o.defaultEngine(), Dimensions: m.dimensions,
		OwnIndexes: o.Config.Elasticsearch.IndexPrefix, Mirror: s.over,
	})
}

func (c *content) openPipeline(o *Options, m *models) (err error) {
	var embedder ingest.Embedder
	if m.standard != nil { // a nil pointer in an interface is not nil
		embedder = m.standard
	}
	further := map[string]ingest.Embedder{}
	for name, model := range m.further {
		further[name] = model
	}
	limits := &o.Config.Limits
	if c.parsers, err = newParsers(limits.Parsers, o.Config.DataDir); err != nil {
		return err
	}
	c.pipeline = ingest.New(c.catalog, embedder, ingest.Options{
		MaxLine: int(limits.LineBytes), MaxFile: int(limits.FileBytes), Parser: c.parser(o), Embedders: further,
	})
	return nil
}

// openMigration makes the service that changes the shape of knowledge bases. Its relevance gate
// searches as any request does.
func (c *content) openMigration(o *Options, s *storage, m *models, searching search.Options) {
	if keeper := s.recordKeeper(); keeper != nil {
		alone := s.standard == EmbeddedName // one process has its data
		c.jobs = jobs.Open(jobs.Options{Keeper: keeper, Alone: alone, Logger: o.Logger})
	} else {
		c.jobs = jobs.New()
	}
	c.mappings = migration.New(migration.Options{
		Catalog: c.catalog, Jobs: c.jobs, Logger: o.Logger, ModelDimensions: m.configuredDimensions,
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

// count counts the knowledge bases of a tenant, and their chunks: of one on several engines on
// each.
func (c *content) count(ctx context.Context, s *storage, tenant string) (has quota.Counts, err error) {
	bases, err := c.catalog.List(ctx, access.Scope{Tenant: tenant})
	if err != nil {
		return has, err
	}
	has.KnowledgeBases = int64(len(bases))
	for _, e := range s.engines {
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
