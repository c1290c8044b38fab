// Package ragflow speaks RAGFlow's retrieval, in ragflow.go, and its lists of datasets, documents and chunks, in
// lists.go.
package ragflow

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/conditions"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// RAGFlow's codes of answers: a caller's error comes with HTTP 200 and a code of its own.
// https://ragflow.io/docs/dev/http_api_reference
const (
	ragflowWrong     = 102
	ragflowForbidden = 108
)

// ragflowPreset ranks as RAGFlow does.
const ragflowPreset = "ragflow"

var members = map[string]string{
	"query": "question", "knowledge_bases": "dataset_ids", "knowledge_base": "dataset_ids", "candidates": "top_k",
	"offset": "page", "limit": "page_size", "weights": "vector_similarity_weight", "threshold": "similarity_threshold",
	"rerank": "rerank_id", "filter": "metadata_condition.conditions",
}

// ragflowRetrieval is a request of RAGFlow's retrieval; the preset is this gateway's own.
type ragflowRetrieval struct {
	Question     string    `json:"question" doc:"As plain text."`
	Datasets     []string  `json:"dataset_ids" doc:"Ids of knowledge bases."`
	Documents    []string  `json:"document_ids,omitempty" doc:"Only chunks of these; nothing of them is cut by similarity_threshold."`
	Page         *int      `json:"page,omitempty" minimum:"1" maximum:"10000" doc:"From 1, the default."`
	PageSize     *int      `json:"page_size,omitempty" minimum:"1" maximum:"100" doc:"Chunks of a page; the default is 30."`
	Threshold    *float64  `json:"similarity_threshold,omitempty" minimum:"0" maximum:"1" doc:"Least similarity; the default is 0.2 for preset ragflow, and none for others."`
	VectorWeight *float64  `json:"vector_similarity_weight,omitempty" minimum:"0" maximum:"1" doc:"Of the cosine, beside 1 - it of the words; the default is the preset's, 0.3 for ragflow."`
	TopK         *int      `json:"top_k,omitempty" minimum:"1" doc:"Candidates, 10000 at most; the default is 1024."`
	RerankID     string    `json:"rerank_id,omitempty" doc:"Name of a reranker of the configuration, or of a preset that ranks in place of ragflow, with its own weights."`
	Highlight    anyBool   `json:"highlight,omitempty"`
	Preset       string    `json:"preset,omitempty" doc:"How it is ranked; the default is ragflow. With another one the similarity is the relevance."`
	Condition    condition `json:"metadata_condition,omitempty"`
}

// condition is a metadata_condition of RAGFlow.
type condition struct {
	Logic      string                         `json:"logic,omitempty" doc:"How the conditions are joined, and or or; and when left out."`
	Conditions []conditions.MetadataCondition `json:"conditions,omitempty"`
}

// anyBool is true or false, also as a string.
type anyBool bool

// UnmarshalText reads a string.
func (b *anyBool) UnmarshalText(text []byte) error {
	*b = anyBool(strings.EqualFold(string(text), "true"))
	return nil
}

// UnmarshalJSON reads either.
func (b *anyBool) UnmarshalJSON(text []byte) error {
	return b.UnmarshalText([]byte(strings.Trim(string(text), `"`)))
}

// ragflowAnswer is an answer in RAGFlow's form.
type ragflowAnswer[T any] struct {
	Code int `json:"code" doc:"0."`
	Data T   `json:"data"`
}

// ragflowChunks is a page of chunks, best first.
type ragflowChunks struct {
	Chunks    []ragflowChunk `json:"chunks"`
	Documents any            `json:"doc_aggs" doc:"A list of {doc_name, doc_id, count}; for a blank question an empty object."`
	Total     int            `json:"total" doc:"Chunks that pass, of those that are scored."`
}

// ragflowCount counts a document's chunks in the answer.
type ragflowCount struct {
	Name  string `json:"doc_name"`
	ID    string `json:"doc_id"`
	Count int    `json:"count"`
}

// ragflowChunk is a chunk in RAGFlow's format.
type ragflowChunk struct {
	ID               string      `json:"id"`
	Content          string      `json:"content"`
	Dataset          string      `json:"dataset_id"`
	Document         string      `json:"document_id"`
	DocumentName     string      `json:"document_keyword"`
	Keywords         []string    `json:"important_keywords"`
	Questions        []string    `json:"questions"`
	Image            string      `json:"image_id"`
	Positions        [][]float64 `json:"positions" doc:"[page, x0, x1, top, bottom] each, where the knowledge base has boxes."`
	Similarity       float64     `json:"similarity" minimum:"0" maximum:"1"`
	VectorSimilarity float64     `json:"vector_similarity"`
	TermSimilarity   float64     `json:"term_similarity"`
	Highlight        string      `json:"highlight,omitempty"`
	Available        bool        `json:"available"`
}

// ragflowError is an error in RAGFlow's form.
type ragflowError struct {
	Code    int    `json:"code" doc:"102: what was asked is wrong, or is not there; 108: the key may not; otherwise the HTTP status."`
	Message string `json:"message"`
}

type ragflowInput struct {
	Body ragflowRetrieval
}

// dialect tells errors as RAGFlow does.
func dialect() *endpoint.Dialect {
	return &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[ragflowError](), Members: members}
}

// Searcher answers questions, by presets and rerankers that have names.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Presets(tenant string) (names []string, standard string)
	Models() (rerankers []string, writes bool)
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
	api       *endpoint.API
	searcher  Searcher
	catalog   Catalog
	documents Reader
}

// Register adds the protocol.
func Register(
	api *endpoint.API, searcher Searcher, catalog Catalog, documents Reader,
) {
	p := &protocol{api, searcher, catalog, documents}
	endpoint.Register(p.api, endpoint.Route{
		Method: http.MethodPost, Path: "/api/v1/retrieval", Tag: "protocols", Access: endpoint.Reads,
		ID: "ragflow-retrieval", Summary: "RAGFlow's retrieval",
		About:   "For ragflow-sdk and whatever else speaks to RAGFlow: its base_url is this gateway's address.",
		Dialect: dialect(),
	}, p.retrieve)
	p.registerLists()
}

func refusal(_ *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	told := ragflowError{Code: p.Status, Message: p.Detail}
	switch fault.Kind(p.Code) { //nolint:exhaustive // the others have the status for a code
	case fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.Unsupported, fault.ReadOnly, fault.TooLarge,
		endpoint.UnsupportedMedia:
		p.Status, told.Code = http.StatusOK, ragflowWrong
	case fault.Forbidden:
		told.Code = ragflowForbidden
	}
	return p.Status, told
}

func (p *protocol) retrieve(
	ctx context.Context, scope access.Scope, in *ragflowInput,
) (*ragflowAnswer[ragflowChunks], error) {
	asked := &in.Body
	if err := asked.validate(); err != nil {
		return nil, err
	}
	p.rerankByPreset(scope, asked)
	req, err := asked.request()
	if err != nil {
		return nil, err
	}
	answer := &ragflowAnswer[ragflowChunks]{Data: ragflowChunks{Chunks: []ragflowChunk{}, Documents: struct{}{}}}
	if strings.TrimSpace(asked.Question) == "" {
		return answer, p.ownsDatasets(ctx, scope, asked.Datasets)
	}
	found, err := p.searcher.Search(ctx, scope, *req)
	if err != nil {
		return nil, notOwned(err, asked.Datasets)
	}
	for i := range found.Hits {
		answer.Data.Chunks = append(answer.Data.Chunks, ragflowChunkOf(&found.Hits[i], asked))
	}
	counts := []ragflowCount{}
	for _, d := range found.Documents {
		counts = append(counts, ragflowCount{Name: cmp.Or(d.DocumentName, d.DocumentID), ID: d.DocumentID, Count: d.Count})
	}
	answer.Data.Documents, answer.Data.Total = counts, found.Total.Value
	return answer, nil
}

// validate reports errors in RAGFlow's words.
func (r *ragflowRetrieval) validate() error {
	switch {
	case len(r.Datasets) == 0:
		return fault.New(fault.InvalidArgument, "`dataset_ids` is required.")
	case r.TopK != nil && *r.TopK <= 0:
		return fault.New(fault.InvalidArgument, "`top_k` must be greater than 0")
	case r.Page != nil && (*r.Page < 1 || *r.Page > search.MaxCandidates):
		return fault.Invalid("page", *r.Page, "1 to 10000")
	case r.PageSize != nil && (*r.PageSize < 1 || *r.PageSize > 100):
		return fault.Invalid("page_size", *r.PageSize, "1 to 100")
	case r.Threshold != nil && !(*r.Threshold >= 0 && *r.Threshold <= 1):
		return fault.Invalid("similarity_threshold", *r.Threshold, "0 to 1")
	case r.VectorWeight != nil && !(*r.VectorWeight >= 0 && *r.VectorWeight <= 1):
		return fault.Invalid("vector_similarity_weight", *r.VectorWeight, "0 to 1")
	}
	return nil
}

// rerankByPreset reads the rerank_id of a preset as that: clients of RAGFlow's have no other member that says how
// to rank. They send vector_similarity_weight unasked, which is a weight of RAGFlow's formula and means nothing to
// other presets.
func (p *protocol) rerankByPreset(scope access.Scope, asked *ragflowRetrieval) {
	known, _ := p.searcher.Presets(scope.Tenant)
	rerankers, _ := p.searcher.Models()
	if asked.Preset != "" || slices.Contains(rerankers, asked.RerankID) || !slices.Contains(known, asked.RerankID) {
		return
	}
	asked.Preset, asked.RerankID = asked.RerankID, ""
	if asked.Preset != ragflowPreset {
		asked.VectorWeight = nil
	}
}

// request converts to a search.
func (r *ragflowRetrieval) request() (*search.Request, error) {
	condition, err := conditions.Filter("logic", r.Condition.Logic, r.Condition.Conditions)
	if err != nil {
		return nil, err
	}
	preset, size := cmp.Or(r.Preset, ragflowPreset), 30
	if r.PageSize != nil {
		size = *r.PageSize
	}
	candidates, offset, none := 1024, 0, 0
	if r.TopK != nil {
		candidates = min(*r.TopK, search.MaxCandidates)
	}
	if r.Page != nil {
		offset = (*r.Page - 1) * size
	}
	req := &search.Request{
		Query: r.Question, Plain: true, KnowledgeBases: r.Datasets, Filter: condition,
		Offset: &offset, Limit: &size,
	}
	req.Preset, req.TopK, req.Candidates = preset, &candidates, &candidates
	if !r.Highlight {
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	if r.VectorWeight != nil {
		req.Weights = map[string]float64{"vector": *r.VectorWeight, "text": 1 - *r.VectorWeight}
	}
	if r.RerankID != "" {
		req.Rerank = &search.Rerank{Name: r.RerankID}
	}
	if len(r.Documents) > 0 {
		chosen := filter.Expression{"document_id": filter.JSON(r.Documents)}
		only, err := filter.Checked(chosen, "document_ids", "document_ids")
		if err != nil {
			return nil, err
		}
		if condition != nil {
			only = filter.Join("all_of", []filter.Expression{only, condition})
		}
		req.Filter = only
	}
	r.cut(req)
	return req, nil
}

// cut sets the threshold: on the relevance, or on the equivalent score of preset ragflow. Chosen
// documents are not cut.
func (r *ragflowRetrieval) cut(req *search.Request) {
	zero := 0.0
	switch least := r.Threshold; {
	case len(r.Documents) > 0:
		req.Threshold.Score = &zero
	case least == nil, r.VectorWeight != nil && *r.VectorWeight == 0:
	case req.Preset == ragflowPreset:
		req.Threshold.Score = least
	case *least > 0:
		req.Threshold.Relevance = least
	}
}

func ragflowChunkOf(hit *search.Hit, asked *ragflowRetrieval) ragflowChunk {
	chunk := ragflowChunk{
		ID: hit.ID, Content: rag.Text(hit), Dataset: hit.KnowledgeBase, Document: hit.DocumentID,
		DocumentName: rag.Cite(hit, 1).Source, Keywords: hit.ImportantKeywords, Questions: hit.Questions,
		Positions: boxesOf(hit.Positions), Similarity: hit.Score, Available: true,
	}
	if asked.Preset != "" && asked.Preset != ragflowPreset && hit.Relevance != nil {
		chunk.Similarity = *hit.Relevance
	}
	if hit.VectorSimilarity != nil {
		chunk.VectorSimilarity = *hit.VectorSimilarity
	}
	if hit.TermSimilarity != nil {
		chunk.TermSimilarity = *hit.TermSimilarity
	}
	if asked.Highlight {
		chunk.Highlight = cmp.Or(strings.Join(hit.Highlights, " "), chunk.Content)
	}
	chunk.Keywords, chunk.Questions = listOf(chunk.Keywords), listOf(chunk.Questions)
	return chunk
}

// listOf is a list that is not null in JSON.
func listOf(list []string) []string { return append([]string{}, list...) }

// boxesOf gives the positions that have a page and a box; lines of a file are no boxes.
func boxesOf(positions [][]float64) [][]float64 {
	boxes := [][]float64{}
	for _, p := range positions {
		if len(p) == 5 {
			boxes = append(boxes, p)
		}
	}
	return boxes
}

// ownsDatasets fails where the caller does not see one of the knowledge bases.
func (p *protocol) ownsDatasets(ctx context.Context, scope access.Scope, ids []string) error {
	for _, id := range ids {
		if _, err := p.catalog.Describe(ctx, scope, id); err != nil {
			return notOwned(err, []string{id})
		}
	}
	return nil
}

// notOwned reports in RAGFlow's words that a knowledge base does not exist for the caller.
func notOwned(err error, ids []string) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	for _, id := range ids {
		if len(ids) == 1 || strings.Contains(err.Error(), fmt.Sprintf("%q", id)) {
			return fault.New(fault.NotFound, "You don't own the dataset %s.", id)
		}
	}
	return err
}
