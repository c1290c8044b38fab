package ragflow

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
)

const (
	datasetsPath  = "/api/v1/datasets"
	documentsPath = datasetsPath + "/{kb}/documents"
)

// ragflowDataset is a knowledge base as a dataset of RAGFlow's.
type ragflowDataset struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Description    string `json:"description"`
	EmbeddingModel string `json:"embedding_model"`
	Permission     string `json:"permission"`
	ChunkMethod    string `json:"chunk_method"`
	Documents      int    `json:"document_count"`
	Chunks         int    `json:"chunk_count"`
	CreateTime     int64  `json:"create_time" doc:"In ms since 1970."`
}

// ragflowDocument is a document as RAGFlow lists them.
type ragflowDocument struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Dataset     string         `json:"dataset_id"`
	Chunks      int            `json:"chunk_count"`
	ChunkMethod string         `json:"chunk_method"`
	Run         string         `json:"run" doc:"DONE: what is there can be found."`
	Status      string         `json:"status"`
	Progress    float64        `json:"progress"`
	CreateTime  int64          `json:"create_time,omitzero" doc:"When it was last written, in ms since 1970; absent where that is not known."`
	UpdateTime  int64          `json:"update_time,omitzero" doc:"As create_time."`
	Fields      map[string]any `json:"meta_fields" doc:"Empty: metadata are those of chunks."`
}

// ragflowDocuments is a page of documents.
type ragflowDocuments struct {
	Total int               `json:"total"`
	Docs  []ragflowDocument `json:"docs"`
}

// ragflowDocumentChunks is a page of a document's chunks, in their order.
type ragflowDocumentChunks struct {
	Total    int             `json:"total"`
	Chunks   []ragflowChunk  `json:"chunks"`
	Document ragflowDocument `json:"doc"`
}

type ragflowDatasetsInput struct {
	ID       string   `query:"id" doc:"Only the one of this id."`
	IDs      []string `query:"ids" doc:"Only those of these ids."`
	Name     string   `query:"name" doc:"Only those of this name."`
	OrderBy  string   `query:"orderby" doc:"create_time, the default, or anything else for the id."`
	Desc     string   `query:"desc" doc:"true, the default: the newest first."`
	Page     int      `query:"page" minimum:"1" maximum:"10000" default:"1"`
	PageSize int      `query:"page_size" minimum:"1" maximum:"100" default:"30"`
}

type ragflowDocumentsInput struct {
	KB       string   `path:"kb" doc:"Id of the knowledge base."`
	ID       string   `query:"id" doc:"Only the one of this id."`
	IDs      []string `query:"ids" doc:"Only those of these ids."`
	Name     string   `query:"name" doc:"Only those of this name."`
	Keywords string   `query:"keywords" doc:"Only those whose name has this text."`
	Page     int      `query:"page" minimum:"1" maximum:"10000" default:"1"`
	PageSize int      `query:"page_size" minimum:"1" maximum:"100" default:"30"`
}

type ragflowChunksInput struct {
	KB       string `path:"kb" doc:"Id of the knowledge base."`
	Document string `path:"document" doc:"Id of the document, percent-encoded."`
	ID       string `query:"id" doc:"Only the one of this id."`
	Keywords string `query:"keywords" doc:"Only those that have this text."`
	Page     int    `query:"page" minimum:"1" maximum:"10000" default:"1"`
	PageSize int    `query:"page_size" minimum:"1" maximum:"100" default:"30"`
}

func (p *protocol) registerLists() {
	const tag = "protocols"
	endpoint.Register(p.api, endpoint.Route{
		Method: http.MethodGet, Path: datasetsPath, Tag: tag, Access: endpoint.Reads,
		ID: "ragflow-datasets", Summary: "RAGFlow's list of datasets: the knowledge bases",
		About: "A page of them; id and name choose some.", Dialect: dialect(),
	}, p.listDatasets)
	endpoint.Register(p.api, endpoint.Route{
		Method: http.MethodGet, Path: documentsPath, Tag: tag, Access: endpoint.Reads,
		ID: "ragflow-documents", Summary: "RAGFlow's list of documents, by id",
		About: "A page of them; id, name and keywords choose some.", Dialect: dialect(),
	}, p.listDocuments)
	endpoint.Register(p.api, endpoint.Route{
		Method: http.MethodGet, Path: documentsPath + "/{document}/chunks", Tag: tag, Access: endpoint.Reads,
		ID: "ragflow-chunks", Summary: "RAGFlow's list of a document's chunks",
		About: "A page of them, with the document.", Dialect: dialect(),
	}, p.listChunks)
}

func (p *protocol) listDatasets(
	ctx context.Context, scope access.Scope, in *ragflowDatasetsInput,
) (*ragflowAnswer[[]ragflowDataset], error) {
	list, err := p.catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(kb engine.KnowledgeBase) bool {
		return !chosen(kb.ID, in.ID, in.IDs) || in.Name != "" && kb.ID != in.Name && kb.Name != in.Name
	})
	if wanted := cmp.Or(in.ID, in.Name); wanted != "" && len(list) == 0 {
		return nil, fault.New(fault.NotFound, "You don't own the dataset %s.", wanted)
	}
	slices.SortStableFunc(list, func(a, b engine.KnowledgeBase) int {
		if cmp.Or(in.OrderBy, "create_time") != "create_time" {
			return 0 // by id, as it comes
		}
		if strings.EqualFold(in.Desc, "false") {
			return a.CreatedAt.Compare(b.CreatedAt)
		}
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	answer := &ragflowAnswer[[]ragflowDataset]{Data: []ragflowDataset{}}
	for _, kb := range pageOf(list, in.Page, in.PageSize) {
		dataset, err := p.dataset(ctx, scope, &kb)
		if err != nil {
			return nil, err
		}
		answer.Data = append(answer.Data, dataset)
	}
	return answer, nil
}

func (p *protocol) dataset(
	ctx context.Context, scope access.Scope, kb *engine.KnowledgeBase,
) (ragflowDataset, error) {
	holds, err := p.catalog.Describe(ctx, scope, kb.ID)
	return ragflowDataset{
		ID: kb.ID, Name: cmp.Or(kb.Name, kb.ID), EmbeddingModel: kb.EmbeddingModel, Permission: "me", ChunkMethod: "naive",
		Documents: holds.Documents, Chunks: holds.Chunks, CreateTime: kb.CreatedAt.UnixNano() / int64(time.Millisecond),
	}, err
}

// chosen reports whether a list is of this id: all where none is asked for.
func chosen(id, one string, several []string) bool {
	return (one == "" || one == id) && (len(several) == 0 || slices.Contains(several, id))
}

// pageOf is a page of a list, from 1.
func pageOf[T any](list []T, page, size int) []T {
	from := min((page-1)*size, len(list))
	return list[from:min(from+size, len(list))]
}

func (p *protocol) listDocuments(
	ctx context.Context, scope access.Scope, in *ragflowDocumentsInput,
) (*ragflowAnswer[ragflowDocuments], error) {
	answer := &ragflowAnswer[ragflowDocuments]{Data: ragflowDocuments{Docs: []ragflowDocument{}}}
	from := (in.Page - 1) * in.PageSize
	err := p.eachDocument(ctx, scope, in.KB, func(d *engine.Document) {
		name := cmp.Or(d.Name, d.ID)
		if !chosen(d.ID, in.ID, in.IDs) || in.Name != "" && name != in.Name || !strings.Contains(name, in.Keywords) {
			return
		}
		if answer.Data.Total >= from && len(answer.Data.Docs) < in.PageSize {
			answer.Data.Docs = append(answer.Data.Docs, ragflowDocumentOf(in.KB, d))
		}
		answer.Data.Total++
	})
	if wanted := cmp.Or(in.ID, in.Name); err == nil && wanted != "" && answer.Data.Total == 0 {
		return nil, fault.New(fault.NotFound, "You don't own the document %s.", wanted)
	}
	return answer, err
}

// eachDocument goes through the documents of a knowledge base by id.
func (p *protocol) eachDocument(ctx context.Context, scope access.Scope, kb string, use func(*engine.Document)) error {
	const some = 1000
	for page := (ingest.Page{Limit: some}); ; {
		list, err := p.documents.Documents(ctx, scope, kb, page)
		if err != nil {
			return notOwned(err, []string{kb})
		}
		for i := range list {
			use(&list[i])
		}
		if len(list) < some {
			return nil
		}
		page.After = list[len(list)-1].ID
	}
}

func ragflowDocumentOf(kb string, d *engine.Document) ragflowDocument {
	document := ragflowDocument{
		ID: d.ID, Name: cmp.Or(d.Name, d.ID), Dataset: kb, Chunks: d.Chunks, ChunkMethod: "naive",
		Run: "DONE", Status: "1", Progress: 1, Fields: map[string]any{},
	}
	if at, known := documents.WrittenAt(d); known {
		document.CreateTime, document.UpdateTime = at.UnixMilli(), at.UnixMilli()
	}
	return document
}

func (p *protocol) listChunks(
	ctx context.Context, scope access.Scope, in *ragflowChunksInput,
) (*ragflowAnswer[ragflowDocumentChunks], error) {
	answer := &ragflowAnswer[ragflowDocumentChunks]{Data: ragflowDocumentChunks{Chunks: []ragflowChunk{}}}
	document, from := engine.Document{ID: in.Document}, (in.Page-1)*in.PageSize
	for page := (ingest.Page{Limit: 1000}); ; {
		list, err := p.documents.DocumentChunks(ctx, scope, ingest.DocumentRef{KB: in.KB, ID: in.Document}, page)
		if err != nil {
			return nil, notOwned(err, []string{in.KB})
		}
		for i := range list {
			c := &list[i]
			document.Name = c.DocumentName
			document.Chunks++
			document.WrittenAt = max(document.WrittenAt, c.WrittenAt)
			if in.ID != "" && c.ID != in.ID || !strings.Contains(c.Content, in.Keywords) {
				continue
			}
			if answer.Data.Total >= from && len(answer.Data.Chunks) < in.PageSize {
				answer.Data.Chunks = append(answer.Data.Chunks, ragflowListed(in.KB, c))
			}
			answer.Data.Total++
		}
		if len(list) < page.Limit {
			break
		}
		page.After = list[len(list)-1].ID
	}
	if document.Chunks == 0 {
		return nil, fault.New(fault.NotFound, "You don't own the document %s.", in.Document)
	}
	answer.Data.Document = ragflowDocumentOf(in.KB, &document)
	return answer, nil
}

// ragflowListed is a chunk of a list, not found by a question.
func ragflowListed(kb string, c *engine.Chunk) ragflowChunk {
	return ragflowChunk{
		ID: c.ID, Content: documents.Text(c), Dataset: kb,
		Document: c.DocumentID, DocumentName: cmp.Or(c.DocumentName, c.DocumentID),
		Keywords: listOf(c.ImportantKeywords), Questions: listOf(c.Questions),
		Positions: boxesOf(c.Positions), Available: c.Available,
	}
}
