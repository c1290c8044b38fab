// Package chunks has the resources that write and read documents and their chunks.
//
//	documents.go, change.go, reembed.go  documents
//	chunks.go        single chunks
//	files.go         files that are split
//	export.go        all chunks of a knowledge base
//	bulk.go          chunks that are streamed, and their results
package chunks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/prometheus/client_golang/prometheus"
)

// Ingester writes, reads and deletes documents and chunks. It returns a fault.NotFound for
// missing ones.
type Ingester interface {
	// Stream writes one chunk per line and emits one result per line, in order.
	Stream(ctx context.Context, scope access.Scope, source ingest.Source, emit func(ingest.Result) error) (
		ingest.Summary, error)
	// ReplaceDocument replaces all chunks of the document by these lines, or changes nothing.
	ReplaceDocument(ctx context.Context, scope access.Scope, replacement ingest.Replacement) ([]ingest.Result, error)
	// File replaces all chunks of the file's document by those of the file, or changes nothing.
	File(ctx context.Context, scope access.Scope, upload ingest.FileUpload) (ingest.FileResult, error)
	// Formats has the extensions of files that are split, each with its parser; empty: the gateway itself.
	Formats() map[string]string
	DeleteDocument(ctx context.Context, scope access.Scope, document ingest.DocumentRef) (int, error)
	// DeleteChunks returns how many of them existed.
	DeleteChunks(ctx context.Context, scope access.Scope, kb string, ids []string) (int, error)
	// DeleteWhere removes chunks by conditions, or counts them.
	DeleteWhere(ctx context.Context, scope access.Scope, kb string, conditions []filter.Condition, dryRun bool) (
		int, error)
	// PatchMetadata changes the metadata of a document's chunks and tells how many they are.
	PatchMetadata(ctx context.Context, scope access.Scope, patch ingest.MetadataPatch) (int, error)
	Documents(ctx context.Context, scope access.Scope, kb string, page ingest.Page) ([]engine.Document, error)
	// ListDocuments lists documents in an order of the caller's, or by a part of their names.
	ListDocuments(ctx context.Context, scope access.Scope, listing ingest.Listing) (*ingest.Listed, error)
	// Reembed gives the work that makes vectors anew.
	Reembed(ctx context.Context, scope access.Scope, what ingest.Reembedding) (
		func(ctx context.Context, report func(done, total int)) error, error)
	DocumentChunks(ctx context.Context, scope access.Scope, document ingest.DocumentRef, page ingest.Page) (
		[]engine.Chunk, error)
	GetChunk(ctx context.Context, scope access.Scope, kb, id string) (engine.Chunk, error)
	// Surroundings returns a chunk within those around it in its document, as a search may show them.
	Surroundings(ctx context.Context, scope access.Scope, place ingest.Place) ([]engine.Chunk, error)
	// Export emits chunks in the order of their ids, as Stream takes them.
	Export(ctx context.Context, scope access.Scope, export ingest.Export, emit func(ingest.Chunk) error) error
}

// Documents is a page of a knowledge base's documents.
type Documents struct {
	Documents []engine.Document `json:"documents"`
	Next      string            `json:"next,omitempty" doc:"The after of the next page; absent when this one is not full."`
	Total     *int              `json:"total,omitempty" doc:"Documents that match; with sort or query."`
}

// DocumentChunks is a page of a document's chunks, in their order.
type DocumentChunks struct {
	DocumentID string         `json:"document_id"`
	Chunks     []engine.Chunk `json:"chunks" doc:"Without vectors, hidden ones included."`
	Next       string         `json:"next,omitempty" doc:"The after of the next page; absent when this one is not full."`
}

// Deleted counts deleted chunks.
type Deleted struct {
	Deleted int `json:"deleted" doc:"Chunks deleted."`
}

type bulkInput struct {
	KB      string `path:"kb" doc:"Id of the knowledge base."`
	Refresh bool   `query:"refresh" doc:"Answer only when a search sees the chunks."`
	AsIs    bool   `query:"as_is" doc:"Make no vectors: a chunk has those that it brings."`
}

type listInput struct {
	KB    string `path:"kb" doc:"Id of the knowledge base."`
	After string `query:"after" doc:"Continue after the document with this id; with sort or query the next of the page before."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Documents of the page."`
	Sort  string `query:"sort" doc:"id, name (numbers in it by their value), chunks, size, without_vectors or written_at; left out: id."`
	Order string `query:"order" doc:"asc or desc; left out: asc."`
	Query string `query:"query" doc:"Only documents whose name or id has this text, without regard to case and width."`
}

type documentInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
}

type replaceInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
	Refresh  bool   `query:"refresh" doc:"Answer only when a search sees the chunks."`
}

type documentPageInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
	After    string `query:"after" doc:"Continue after the chunk with this id."`
	Limit    int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Chunks of the page."`
}

const (
	basePath      = "/v1/knowledge-bases/{kb}"
	documentsPath = basePath + "/documents"
	documentPath  = documentsPath + "/{document}"
)

// documentService writes and reads documents and their chunks.
type documentService struct {
	api      *endpoint.API
	ingester Ingester
	jobs     Jobs                   // nil: there are none
	ingested *prometheus.CounterVec // chunks, by outcome
}

// Jobs runs long work.
type Jobs interface {
	List(tenant string) []jobs.Job
	Start(job jobs.Job, work jobs.Work) (jobs.Job, error)
}

// Register adds the resources. Without jobs, nothing is embedded anew.
func Register(api *endpoint.API, ingester Ingester, jobs Jobs, registry *prometheus.Registry) {
	s := &documentService{api, ingester, jobs, newIngested(registry)}
	s.documentRoutes()
	s.reembedRoutes()
	s.fileRoutes()
	s.chunkRoutes()
	s.exportRoutes()
}

// newIngested counts written chunks.
func newIngested(registry *prometheus.Registry) *prometheus.CounterVec {
	ingested := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hybridge_ingested_chunks_total", Help: "Chunks written or refused, by what became of them.",
	}, []string{"status"})
	registry.MustRegister(ingested)
	return ingested
}

func (s *documentService) documentRoutes() {
	const tag = "documents"
	registerBulk(s, endpoint.Route{
		Method: http.MethodPost, Path: documentsPath, Tag: tag, Access: endpoint.Writes,
		ID: "write-chunks", Summary: "Add chunks, or replace those of the same id",
		About: "A line that is not accepted fails alone. The results come when the body has been read.",
	}, s.writeChunks)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: documentsPath, Tag: tag, Access: endpoint.Reads,
		ID: "list-documents", Summary: "List documents by id",
		About: "A page of them; after continues behind an id. With sort, order or query every page looks at all documents " +
			"once: of 50,000 that took 0.4 s on the embedded engine, and about 1 s on Elasticsearch.",
	}, s.listDocuments)
	registerBulk(s, endpoint.Route{
		Method: http.MethodPut, Path: documentPath, Tag: tag, Access: endpoint.Writes,
		ID: "replace-document", Summary: "Replace a document by these chunks",
		About: "Chunks of the document that are not in the body are removed. One bad line refuses the whole " +
			"and changes nothing; so does one whose id is that of another document's chunk.",
	}, s.replaceDocument)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: documentPath, Tag: tag, Access: endpoint.Reads,
		ID: "list-document-chunks", Summary: "List the chunks of a document",
		About: "In their order, hidden ones included; a page of them.",
	}, s.listDocumentChunks)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPatch, Path: documentPath, Tag: tag, Access: endpoint.Writes, Timeout: s.api.Limits.Ingest,
		ID: "patch-document", Summary: "Change the metadata of a document",
		About: "Members that are null are removed, the others set, and those that are not named stay, in all chunks of the " +
			"document. Nothing is embedded again. Each chunk is changed as it is at that moment: of two requests at once both " +
			"count. Where chunks cannot be changed, changed and failed of the problem say which were and which were not.",
	}, s.patchDocument)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: basePath + "/delete", Tag: tag, Access: endpoint.Writes, Timeout: s.api.Limits.Ingest,
		ID: "delete-by-filter", Summary: "Delete the chunks that pass a filter",
		About: "With dry_run it only counts them. A chunk is deleted if it passes the filter at that moment; what is " +
			"written meanwhile may stay.",
	}, s.deleteByFilter)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodDelete, Path: documentPath, Tag: tag, Access: endpoint.Writes,
		ID: "delete-document", Summary: "Delete a document with its chunks",
		About: "Tells how many chunks it had, 0 where there was none.",
	}, s.deleteDocument)
}

func (s *documentService) writeChunks(ctx context.Context, scope access.Scope, in *bulkInput, job bulk) error {
	source := ingest.Source{KB: in.KB, Lines: job.lines, Refresh: in.Refresh, AsIs: in.AsIs}
	summary, err := s.ingester.Stream(ctx, scope, source, job.emit)
	endpoint.Annotate(ctx, slog.Int("created", summary.Created))
	endpoint.Annotate(ctx, slog.Int("updated", summary.Updated))
	endpoint.Annotate(ctx, slog.Int("failed", summary.Failed))
	return err
}

func (s *documentService) replaceDocument(ctx context.Context, scope access.Scope, in *replaceInput, job bulk) error {
	results, err := s.ingester.ReplaceDocument(ctx, scope, ingest.Replacement{
		DocumentRef: ingest.DocumentRef{KB: in.KB, ID: in.Document},
		Lines:       job.lines,
		Refresh:     in.Refresh,
	})
	if err != nil {
		return err
	}
	for _, result := range results {
		if err := job.emit(result); err != nil {
			return err
		}
	}
	return nil
}

func (s *documentService) listDocuments(ctx context.Context, scope access.Scope, in *listInput) (*Documents, error) {
	if in.Sort != "" || in.Order != "" || in.Query != "" {
		return s.sortedDocuments(ctx, scope, in)
	}
	list, err := s.ingester.Documents(ctx, scope, in.KB, ingest.Page{After: in.After, Limit: in.Limit})
	answer := &Documents{Documents: list}
	if len(list) == in.Limit {
		answer.Next = list[len(list)-1].ID
	}
	return answer, err
}

func (s *documentService) sortedDocuments(ctx context.Context, scope access.Scope, in *listInput) (*Documents, error) {
	if in.Order != "" && in.Order != "asc" && in.Order != "desc" {
		return nil, fault.Invalid("order", endpoint.Clip(in.Order), "asc or desc")
	}
	listed, err := s.ingester.ListDocuments(ctx, scope, ingest.Listing{
		KB: in.KB, Sort: in.Sort, Descending: in.Order == "desc", Query: in.Query, After: in.After, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	return &Documents{Documents: listed.Documents, Next: listed.Next, Total: &listed.Total}, nil
}

func (s *documentService) listDocumentChunks(
	ctx context.Context, scope access.Scope, in *documentPageInput,
) (*DocumentChunks, error) {
	document := ingest.DocumentRef{KB: in.KB, ID: in.Document}
	list, err := s.ingester.DocumentChunks(ctx, scope, document, ingest.Page{After: in.After, Limit: in.Limit})
	var gone *fault.Error
	if in.After != "" && errors.As(err, &gone) && gone.Kind == fault.NotFound && gone.Field == "" {
		return nil, gone.Called("after")
	}
	answer := &DocumentChunks{DocumentID: in.Document, Chunks: list}
	if len(list) == in.Limit {
		answer.Next = list[len(list)-1].ID
	}
	return answer, err
}

func (s *documentService) deleteDocument(ctx context.Context, scope access.Scope, in *documentInput) (*Deleted, error) {
	count, err := s.ingester.DeleteDocument(ctx, scope, ingest.DocumentRef{KB: in.KB, ID: in.Document})
	return &Deleted{Deleted: count}, err
}
