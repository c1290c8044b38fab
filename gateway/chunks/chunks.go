package chunks

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

type chunkInput struct {
	KB string `path:"kb" doc:"Id of the knowledge base."`
	ID string `path:"id" doc:"Id of the chunk, percent-encoded."`
}

const chunkPath = basePath + "/chunks/{id}"

func (s *documentService) chunkRoutes() {
	const tag = "documents"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: chunkPath, Tag: tag, Access: endpoint.Reads,
		ID: "get-chunk", Summary: "Get a chunk, hidden ones included",
		About: "As it was written, without its vectors.",
	}, s.getChunk)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodDelete, Path: chunkPath, Tag: tag, Access: endpoint.Writes,
		ID: "delete-chunk", Summary: "Delete a chunk",
		About: "404 where there is none of that id. Its document stays, with its other chunks.",
	}, s.deleteChunk)
}

func (s *documentService) getChunk(ctx context.Context, scope access.Scope, in *chunkInput) (*engine.Chunk, error) {
	chunk, err := s.ingester.GetChunk(ctx, scope, in.KB, in.ID)
	return &chunk, err
}

func (s *documentService) deleteChunk(ctx context.Context, scope access.Scope, in *chunkInput) (*Deleted, error) {
	count, err := s.ingester.DeleteChunks(ctx, scope, in.KB, []string{in.ID})
	if err == nil && count == 0 {
		missing := fault.New(fault.NotFound, "chunk %q does not exist in knowledge base %q", endpoint.Clip(in.ID), in.KB)
		missing.Field = "chunk_id"
		return nil, missing
	}
	return &Deleted{Deleted: count}, err
}
