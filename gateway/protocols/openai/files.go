package openai

import (
	"cmp"
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
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
	Data     []openAIText `json:"data"`
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

func (p *protocol) listFiles(
	ctx context.Context, scope access.Scope, in *openAIFilesInput,
) (*openAIPage[VectorStoreFile], error) {
	list, err := p.documents.Documents(ctx, scope, in.KB, ingest.Page{After: in.After, Limit: in.Limit + 1})
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
	if at, known := documents.WrittenAt(d); known {
		file.CreatedAt = at.Unix()
	}
	return file
}

func (p *protocol) file(ctx context.Context, scope access.Scope, in *openAIFileInput) (*VectorStoreFile, error) {
	chunks, err := p.documents.DocumentChunks(ctx, scope,
		ingest.DocumentRef{KB: in.KB, ID: in.Document}, ingest.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, documents.Missing(ingest.DocumentRef{KB: in.KB, ID: in.Document})
	}
	first := &chunks[0]
	file := vectorStoreFile(in.KB, &engine.Document{ID: in.Document, Name: first.DocumentName, WrittenAt: first.WrittenAt})
	return &file, nil
}

func (p *protocol) content(
	ctx context.Context, scope access.Scope, in *openAIFileInput,
) (*VectorStoreContent, error) {
	texts, err := documents.Texts(
		ctx, p.documents, scope, ingest.DocumentRef{KB: in.KB, ID: in.Document}, p.answerBytes)
	if err != nil {
		return nil, err
	}
	content := &VectorStoreContent{Object: "vector_store.file_content.page", Data: make([]openAIText, len(texts))}
	for i, text := range texts {
		content.Data[i] = openAIText{Type: "text", Text: text}
	}
	return content, nil
}
