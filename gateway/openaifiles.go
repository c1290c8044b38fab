package gateway

import (
	"cmp"
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// VectorStoreFile is a document as OpenAI tells of files.
type VectorStoreFile struct {
	ID         string         `json:"id"`
	Object     string         `json:"object"`
	CreatedAt  int64          `json:"created_at" doc:"When it was last written; 0 where that is not known."`
	Store      string         `json:"vector_store_id"`
	Status     string         `json:"status"`
	Bytes      int64          `json:"usage_bytes"`
	LastError  *string        `json:"last_error"`
	Attributes map[string]any `json:"attributes"`
}

// VectorStoreContent is the text of a file.
type VectorStoreContent struct {
	Object   string       `json:"object"`
	Data     []OpenAIText `json:"data"`
	HasMore  bool         `json:"has_more"`
	NextPage *string      `json:"next_page"`
}

type openAIFilesInput struct {
	KB    string `path:"kb" doc:"Id of the knowledge base."`
	After string `query:"after" doc:"Continue after the one with this id."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

type openAIFileInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
}

func (s *Server) openAIFiles(
	ctx context.Context, scope access.Scope, in *openAIFilesInput,
) (*OpenAIPage[VectorStoreFile], error) {
	list, err := s.options.Ingester.Documents(ctx, scope, in.KB, ingest.Page{After: in.After, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	files := []VectorStoreFile{}
	for i := range list[:min(len(list), in.Limit)] {
		files = append(files, vectorStoreFile(in.KB, &list[i]))
	}
	return openAIPageOf(files, len(list) > in.Limit, func(f *VectorStoreFile) string { return f.ID }), nil
}

func vectorStoreFile(kb string, d *engine.Document) VectorStoreFile {
	file := VectorStoreFile{
		ID: d.ID, Object: "vector_store.file", Store: kb, Status: "completed", Bytes: d.Bytes,
		Attributes: map[string]any{"filename": cmp.Or(d.Name, d.ID)},
	}
	if at, known := writtenAt(d); known {
		file.CreatedAt = at.Unix()
	}
	return file
}

// writtenAt is when a document was last written, where that is known.
func writtenAt(d *engine.Document) (at time.Time, known bool) {
	at, err := time.Parse(time.RFC3339, d.WrittenAt)
	return at, err == nil
}

func (s *Server) openAIFile(ctx context.Context, scope access.Scope, in *openAIFileInput) (*VectorStoreFile, error) {
	chunks, err := s.options.Ingester.DocumentChunks(ctx, scope,
		ingest.DocumentRef{KB: in.KB, ID: in.Document}, ingest.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, noSuchDocument(ingest.DocumentRef{KB: in.KB, ID: in.Document})
	}
	first := &chunks[0]
	file := vectorStoreFile(in.KB, &engine.Document{ID: in.Document, Name: first.DocumentName, WrittenAt: first.WrittenAt})
	return &file, nil
}

func noSuchDocument(of ingest.DocumentRef) error {
	return fault.New(fault.NotFound, "document %q does not exist in knowledge base %q", endpoint.Clip(of.ID), of.KB)
}

func (s *Server) openAIContent(
	ctx context.Context, scope access.Scope, in *openAIFileInput,
) (*VectorStoreContent, error) {
	texts, err := s.documentTexts(ctx, scope, ingest.DocumentRef{KB: in.KB, ID: in.Document})
	if err != nil {
		return nil, err
	}
	content := &VectorStoreContent{Object: "vector_store.file_content.page", Data: make([]OpenAIText, len(texts))}
	for i, text := range texts {
		content.Data[i] = OpenAIText{Type: "text", Text: text}
	}
	return content, nil
}

// documentTexts are those of a document's chunks, in their order.
func (s *Server) documentTexts(
	ctx context.Context, scope access.Scope, of ingest.DocumentRef,
) (texts []string, err error) {
	size := 0
	for page := (ingest.Page{Limit: 500}); ; {
		chunks, err := s.options.Ingester.DocumentChunks(ctx, scope, of, page)
		if err != nil {
			return nil, err
		}
		for i := range chunks {
			piece := listedText(&chunks[i])
			if size += len(piece); size > s.Limits.AnswerBytes {
				return nil, search.TooLarge(int64(s.Limits.AnswerBytes))
			}
			texts = append(texts, piece)
		}
		if len(chunks) < page.Limit {
			break
		}
		page.After = chunks[len(chunks)-1].ID
	}
	if len(texts) == 0 {
		return nil, noSuchDocument(of)
	}
	return texts, nil
}
