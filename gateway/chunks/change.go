package chunks

import (
	"context"
	"encoding/json"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/ingest"
)

// DocumentPatch changes a document.
type DocumentPatch struct {
	Metadata map[string]json.RawMessage `json:"metadata" doc:"Members to set, as chunks have them, or to remove by null."`
}

// Patched counts changed chunks.
type Patched struct {
	Chunks int `json:"chunks" doc:"Of the document, all that the key may see."`
}

type patchInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
	Refresh  bool   `query:"refresh" doc:"Answer only when a search sees the change."`
	Body     DocumentPatch
}

func (s *documentService) patchDocument(ctx context.Context, scope access.Scope, in *patchInput) (*Patched, error) {
	count, err := s.ingester.PatchMetadata(ctx, scope, ingest.MetadataPatch{
		DocumentRef: ingest.DocumentRef{KB: in.KB, ID: in.Document}, Members: in.Body.Metadata, Refresh: in.Refresh,
	})
	return &Patched{Chunks: count}, err
}

// DeleteByFilter selects the chunks to delete.
type DeleteByFilter struct {
	Filter filter.Expression `json:"filter"`
	DryRun bool              `json:"dry_run,omitempty" doc:"Count them and delete none."`
}

type deleteByFilterInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body DeleteByFilter
}

func (s *documentService) deleteByFilter(
	ctx context.Context, scope access.Scope, in *deleteByFilterInput,
) (*Deleted, error) {
	conditions, err := filter.Parse(in.Body.Filter)
	if err != nil {
		return nil, err
	}
	count, err := s.ingester.DeleteWhere(ctx, scope, in.KB, conditions, in.Body.DryRun)
	return &Deleted{Deleted: count}, err
}
