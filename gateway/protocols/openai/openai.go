// Package openai speaks OpenAI's vector stores and embeddings.
//
//	openai.go      vector stores, and their search
//	files.go       the files of a vector store
//	filter.go      filters as OpenAI writes them
//	embeddings.go  embeddings by the configured models
package openai

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// OpenAI's vector stores, read only: a vector store is a knowledge base, a file is a document.
// https://platform.openai.com/docs/api-reference/vector-stores
const (
	vectorStoresPath = "/v1/vector_stores"
	vectorStorePath  = vectorStoresPath + "/{kb}"
	storeFilesPath   = vectorStorePath + "/files"
	storeFilePath    = storeFilesPath + "/{document}"
)

// openAIRankers are OpenAI's names of rankers; each stands for the default preset.
var openAIRankers = []string{"", "auto", "none", "default-2024-11-15"}

var members = map[string]string{
	"knowledge_bases": "vector_store_id", "knowledge_base": "vector_store_id", "document_id": "file_id",
	"queries": "query", "filter": "filters",
	"top_k": "max_num_results", "threshold": "ranking_options.score_threshold", "preset": "ranking_options.ranker",
}

// openAIError is an error in OpenAI's form.
type openAIError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type" doc:"invalid_request_error, authentication_error, permission_error, rate_limit_error or server_error."`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

// openAIPage is a page of a list.
type openAIPage[T any] struct {
	Object  string  `json:"object"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// VectorStore is a knowledge base as a vector store of OpenAI's.
type VectorStore struct {
	ID         string         `json:"id"`
	Object     string         `json:"object"`
	CreatedAt  int64          `json:"created_at"`
	Name       string         `json:"name"`
	Bytes      int64          `json:"usage_bytes"`
	Files      FileCounts     `json:"file_counts"`
	Status     string         `json:"status"`
	LastActive *int64         `json:"last_active_at"`
	Metadata   map[string]any `json:"metadata"`
}

// FileCounts counts documents, all of which can be found.
type FileCounts struct {
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Cancelled  int `json:"cancelled"`
	Total      int `json:"total"`
}

// openAIText is a piece of text.
type openAIText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// VectorStoreSearch asks a vector store.
type VectorStoreSearch struct {
	Query   oneOrMore     `json:"query"`
	Filters *openAIFilter `json:"filters,omitempty"`
	Most    *int          `json:"max_num_results,omitempty" minimum:"1" maximum:"50" doc:"The default is 10."`
	Ranking struct {
		Ranker    string   `json:"ranker,omitempty" doc:"auto, none, or the name of a preset."`
		Threshold *float64 `json:"score_threshold,omitempty" minimum:"0" maximum:"1" doc:"Least score."`
	} `json:"ranking_options,omitempty"`
}

// VectorStoreFound is the result of a vector store, best first.
type VectorStoreFound struct {
	Object   string              `json:"object"`
	Query    []string            `json:"search_query"`
	Data     []VectorStoreResult `json:"data"`
	HasMore  bool                `json:"has_more"`
	NextPage *string             `json:"next_page"`
}

// VectorStoreResult is a chunk.
type VectorStoreResult struct {
	FileID     string         `json:"file_id"`
	Filename   string         `json:"filename"`
	Score      float64        `json:"score" minimum:"0" maximum:"1" doc:"The relevance; where that is not known, the fused score."`
	Attributes map[string]any `json:"attributes"`
	Content    []openAIText   `json:"content"`
}

type openAIListInput struct {
	After string `query:"after" doc:"Continue after the one with this id."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

type openAIStoreInput struct {
	KB string `path:"kb" doc:"Id of the knowledge base."`
}

type openAISearchInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body VectorStoreSearch
}

func dialect() *endpoint.Dialect {
	return &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[openAIError](), Members: members}
}

// Searcher answers questions.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// Catalog lists the knowledge bases.
type Catalog interface {
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
	Describe(ctx context.Context, scope access.Scope, id string) (catalog.Described, error)
}

// Reader reads documents and their chunks.
type Reader interface {
	Documents(ctx context.Context, scope access.Scope, kb string, page ingest.Page) ([]engine.Document, error)
	documents.Reader
}

type protocol struct {
	searcher    Searcher
	catalog     Catalog
	documents   Reader
	answerBytes int
}

// Register adds vector stores.
func Register(
	api *endpoint.API, searcher Searcher, catalog Catalog, documents Reader,
) {
	p := &protocol{searcher, catalog, documents, api.Limits.AnswerBytes}
	add := func(method, path, id, summary, about string) endpoint.Route {
		return endpoint.Route{
			Method: method, Path: path, Tag: "protocols", Access: endpoint.Reads, ID: id, Summary: summary, About: about,
			Dialect: dialect(),
		}
	}
	const stores = "Vector stores are the knowledge bases that the key may see; this gateway's own API makes them."
	endpoint.Register(api, add(http.MethodGet, vectorStoresPath, "openai-list-vector-stores",
		"OpenAI's list of vector stores: the knowledge bases, by id", stores), p.stores)
	endpoint.Register(api, add(http.MethodGet, vectorStorePath, "openai-get-vector-store",
		"OpenAI's description of a vector store", stores), p.store)
	endpoint.Register(api, add(http.MethodPost, vectorStorePath+"/search", "openai-search-vector-store",
		"OpenAI's search of a vector store",
		"Results are chunks, best first, whose score is the relevance. Further texts of query are further wordings of it."),
		p.search)
	endpoint.Register(api, add(http.MethodGet, storeFilesPath, "openai-list-files",
		"OpenAI's list of a vector store's files: the documents, by id",
		"A page of them; after continues behind an id."), p.listFiles)
	endpoint.Register(api, add(http.MethodGet, storeFilePath, "openai-get-file",
		"OpenAI's description of a file",
		"A file is a document: all that is stored of it can be found, so that it is completed."), p.file)
	endpoint.Register(api, add(http.MethodGet, storeFilePath+"/content", "openai-get-file-content",
		"OpenAI's text of a file: its chunks, in their order", "Each chunk is a piece of text."), p.content)
}

func refusal(_ *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	told := openAIError{}
	told.Error.Message, told.Error.Code = p.Detail, p.Code
	if p.Field != "" {
		told.Error.Param = &p.Field
	}
	switch {
	case p.Status == http.StatusUnauthorized:
		told.Error.Type, told.Error.Code = "authentication_error", "invalid_api_key"
	case p.Status == http.StatusForbidden:
		told.Error.Type = "permission_error"
	case p.Status == http.StatusTooManyRequests:
		told.Error.Type = "rate_limit_error"
	case p.Status >= http.StatusInternalServerError:
		told.Error.Type = "server_error"
	default:
		told.Error.Type = "invalid_request_error"
	}
	return p.Status, told
}

func (p *protocol) stores(
	ctx context.Context, scope access.Scope, in *openAIListInput,
) (*openAIPage[VectorStore], error) {
	list, err := p.catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b engine.KnowledgeBase) int { return strings.Compare(a.ID, b.ID) })
	list = slices.DeleteFunc(list, func(kb engine.KnowledgeBase) bool { return kb.ID <= in.After })
	stores := []VectorStore{}
	for i := range list[:min(len(list), in.Limit)] {
		store, err := p.store(ctx, scope, &openAIStoreInput{KB: list[i].ID})
		if err != nil {
			return nil, err
		}
		stores = append(stores, *store)
	}
	return openAIPageOf(stores, len(list) > in.Limit, func(v *VectorStore) string { return v.ID }), nil
}

func openAIPageOf[T any](list []T, more bool, id func(*T) string) *openAIPage[T] {
	page := &openAIPage[T]{Object: "list", Data: list, HasMore: more}
	if len(list) > 0 {
		first, last := id(&list[0]), id(&list[len(list)-1])
		page.FirstID, page.LastID = &first, &last
	}
	return page
}

func (p *protocol) store(ctx context.Context, scope access.Scope, in *openAIStoreInput) (*VectorStore, error) {
	kb, err := p.catalog.Describe(ctx, scope, in.KB)
	if err != nil {
		return nil, err
	}
	return &VectorStore{
		ID: kb.ID, Object: "vector_store", CreatedAt: kb.CreatedAt.Unix(), Name: cmp.Or(kb.Name, kb.ID), Bytes: kb.Bytes,
		Files: FileCounts{Completed: kb.Documents, Total: kb.Documents}, Status: "completed", Metadata: map[string]any{},
	}, nil
}

func (p *protocol) search(
	ctx context.Context, scope access.Scope, in *openAISearchInput,
) (*VectorStoreFound, error) {
	req, err := in.Body.request(in.KB)
	if err != nil {
		return nil, err
	}
	found, err := p.searcher.Search(ctx, scope, *req)
	if err != nil {
		return nil, err
	}
	answer := &VectorStoreFound{
		Object: "vector_store.search_results.page", Query: in.Body.Query, Data: []VectorStoreResult{},
	}
	for i := range found.Hits {
		hit := &found.Hits[i]
		result := VectorStoreResult{
			FileID: hit.DocumentID, Filename: rag.Cite(hit, 1).Source, Score: hit.Score, Attributes: map[string]any{},
			Content: []openAIText{{Type: "text", Text: rag.Text(hit)}},
		}
		if hit.Relevance != nil {
			result.Score = *hit.Relevance
		}
		maps.Copy(result.Attributes, hit.Metadata)
		result.Attributes["chunk_id"] = hit.ID
		if least := in.Body.Ranking.Threshold; least == nil || result.Score >= *least {
			answer.Data = append(answer.Data, result)
		}
	}
	return answer, nil
}

// request converts to a search; further texts of the query are further phrasings.
func (v *VectorStoreSearch) request(kb string) (*search.Request, error) {
	most, none := 10, 0
	if v.Most != nil {
		most = *v.Most
	}
	least := v.Ranking.Threshold
	switch {
	case len(v.Query) == 0:
		return nil, fault.Invalid("query", "empty", v.Query.Accepts())
	case most < 1 || most > 50:
		return nil, fault.Invalid("max_num_results", most, "1 to 50")
	case least != nil && !(*least >= 0 && *least <= 1):
		return nil, fault.Invalid("ranking_options.score_threshold", *least, "0 to 1")
	}
	req := &search.Request{
		Query: v.Query[0], Queries: v.Query[1:], Plain: true, KnowledgeBases: []string{kb},
		Highlight: &search.Highlight{Fragments: &none},
	}
	req.TopK = &most
	if ranker := v.Ranking.Ranker; !slices.Contains(openAIRankers, ranker) {
		req.Preset = ranker
	}
	if least != nil && *least > 0 {
		req.Threshold.Relevance = least
	}
	if v.Filters != nil {
		filter, err := v.Filters.filter("filters", 1)
		if err != nil {
			return nil, err
		}
		req.Filter = filter
	}
	return req, nil
}
