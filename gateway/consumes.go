package gateway

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
)

// What the gateway needs of the packages below it. Each is safe for concurrent
// use, and keeps to the scope that it is given.

// Searcher answers questions.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Explain(ctx context.Context, scope access.Scope, req search.ExplainRequest) (*search.ExplainResponse, error)
	Analyze(ctx context.Context, scope access.Scope, req search.Request) (*search.AnalyzeResponse, error)
	Together(ctx context.Context, scope access.Scope, requests []search.Request) ([]search.Outcome, error)
	Presets() (names []string, standard string)
}

// Catalog keeps the list of knowledge bases.
type Catalog interface {
	Create(ctx context.Context, scope access.Scope, spec catalog.Spec) (engine.KnowledgeBase, error)
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
	Describe(ctx context.Context, scope access.Scope, id string) (catalog.Described, error)
	Delete(ctx context.Context, scope access.Scope, id string) error
	Check(ctx context.Context, scope access.Scope, id string, repair bool) (*engine.DriftReport, error)
	Invalidate(ctx context.Context, scope access.Scope, id string) error
}

// Synonyms keeps the sets that are edited while the gateway runs.
type Synonyms interface {
	List(ctx context.Context, tenant string) ([]synonyms.Version, error)
	Get(ctx context.Context, tenant, set string, version int) (*synonyms.Version, error)
	History(ctx context.Context, tenant, set string, limit int) ([]synonyms.Version, error)
	Save(ctx context.Context, edit synonyms.Edit) (*synonyms.Version, error)
	Rollback(ctx context.Context, edit synonyms.Edit, version int) (*synonyms.Version, error)
	Try(set, text, question string) ([]synonyms.Applied, error)
}

// Ingester writes, reads and deletes documents and chunks. What does not exist
// is a fault.NotFound.
type Ingester interface {
	// Stream writes one chunk per line and emits one result per line, in order.
	Stream(ctx context.Context, scope access.Scope, source ingest.Source, emit func(ingest.Result) error) (
		ingest.Summary, error)
	// ReplaceDocument makes these lines all that the document has, or changes nothing.
	ReplaceDocument(ctx context.Context, scope access.Scope, replacement ingest.Replacement) ([]ingest.Result, error)
	// File makes the chunks of a file all that its document has, or changes nothing.
	File(ctx context.Context, scope access.Scope, upload ingest.FileUpload) (ingest.FileResult, error)
	DeleteDocument(ctx context.Context, scope access.Scope, document ingest.DocumentRef) (int, error)
	// DeleteChunks says how many of them existed.
	DeleteChunks(ctx context.Context, scope access.Scope, kb string, ids []string) (int, error)
	Documents(ctx context.Context, scope access.Scope, kb string, page ingest.Page) ([]engine.Document, error)
	DocumentChunks(ctx context.Context, scope access.Scope, document ingest.DocumentRef, page ingest.Page) (
		[]engine.Chunk, error)
	GetChunk(ctx context.Context, scope access.Scope, kb, id string) (engine.Chunk, error)
}
