package gateway

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
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// RAGFlow's codes of answers: what a caller did wrong comes with HTTP 200 and a code of its own.
// https://ragflow.io/docs/dev/http_api_reference
const (
	ragflowWrong     = 102
	ragflowForbidden = 108
)

// ragflowPreset ranks as RAGFlow does.
const ragflowPreset = "ragflow"

var ragflowMembers = map[string]string{
	"query": "question", "knowledge_bases": "dataset_ids", "knowledge_base": "dataset_ids", "candidates": "top_k",
	"offset": "page", "limit": "page_size", "weights": "vector_similarity_weight", "threshold": "similarity_threshold",
	"rerank": "rerank_id", "filter": "metadata_condition.conditions",
}

// RagflowRetrieval is what RAGFlow's retrieval takes, and the preset, which is this gateway's own.
type RagflowRetrieval struct {
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
	Logic      string              `json:"logic,omitempty" doc:"How the conditions are joined, and or or; and when left out."`
	Conditions []metadataCondition `json:"conditions,omitempty"`
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

// RagflowAnswer is an answer in RAGFlow's form.
type RagflowAnswer[T any] struct {
	Code int `json:"code" doc:"0."`
	Data T   `json:"data"`
}

// RagflowChunks is a page of chunks, best first.
type RagflowChunks struct {
	Chunks    []RagflowChunk `json:"chunks"`
	Documents any            `json:"doc_aggs" doc:"A list of {doc_name, doc_id, count}; for a blank question an empty object."`
	Total     int            `json:"total" doc:"Chunks that pass, of those that are scored."`
}

// RagflowCount counts a document's chunks in the answer.
type RagflowCount struct {
	Name  string `json:"doc_name"`
	ID    string `json:"doc_id"`
	Count int    `json:"count"`
}

// RagflowChunk is a chunk as RAGFlow has it.
type RagflowChunk struct {
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

// RagflowError is an error in RAGFlow's form.
type RagflowError struct {
	Code    int    `json:"code" doc:"102: what was asked is wrong, or is not there; 108: the key may not; otherwise the HTTP status."`
	Message string `json:"message"`
}

type ragflowInput struct {
	Body RagflowRetrieval
}

// ragflowDialect tells errors as RAGFlow does.
func ragflowDialect() *endpoint.Dialect {
	return &endpoint.Dialect{Refusal: ragflowRefusal, Problems: reflect.TypeFor[RagflowError](), Members: ragflowMembers}
}

func (s *Server) ragflowRoutes() {
	endpoint.Register(s.API, endpoint.Route{
		Method: http.MethodPost, Path: "/api/v1/retrieval", Tag: "protocols", Access: endpoint.Reads,
		ID: "ragflow-retrieval", Summary: "RAGFlow's retrieval",
		About:   "For ragflow-sdk and whatever else speaks to RAGFlow: its base_url is this gateway's address.",
		Dialect: ragflowDialect(),
	}, s.ragflowRetrieval)
	s.ragflowLists()
}

func ragflowRefusal(_ *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	told := RagflowError{Code: p.Status, Message: p.Detail}
	switch fault.Kind(p.Code) { //nolint:exhaustive // the others have the status for a code
	case fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.Unsupported, fault.ReadOnly, fault.TooLarge,
		endpoint.UnsupportedMedia:
		p.Status, told.Code = http.StatusOK, ragflowWrong
	case fault.Forbidden:
		told.Code = ragflowForbidden
	}
	return p.Status, told
}

func (s *Server) ragflowRetrieval(
	ctx context.Context, scope access.Scope, in *ragflowInput,
) (*RagflowAnswer[RagflowChunks], error) {
	asked := &in.Body
	if err := asked.validate(); err != nil {
		return nil, err
	}
	s.rerankByPreset(scope, asked)
	req, err := asked.request()
	if err != nil {
		return nil, err
	}
	answer := &RagflowAnswer[RagflowChunks]{Data: RagflowChunks{Chunks: []RagflowChunk{}, Documents: struct{}{}}}
	if strings.TrimSpace(asked.Question) == "" {
		return answer, s.ownsDatasets(ctx, scope, asked.Datasets)
	}
	found, err := s.search(ctx, scope, &searchInput{Body: *req})
	if err != nil {
		return nil, notOwned(err, asked.Datasets)
	}
	for i := range found.Hits {
		answer.Data.Chunks = append(answer.Data.Chunks, ragflowChunkOf(&found.Hits[i], asked))
	}
	counts := []RagflowCount{}
	for _, d := range found.Documents {
		counts = append(counts, RagflowCount{Name: cmp.Or(d.DocumentName, d.DocumentID), ID: d.DocumentID, Count: d.Count})
	}
	answer.Data.Documents, answer.Data.Total = counts, found.Total.Value
	return answer, nil
}

// validate refuses in RAGFlow's words what it refuses.
func (r *RagflowRetrieval) validate() error {
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
func (s *Server) rerankByPreset(scope access.Scope, asked *RagflowRetrieval) {
	known, _ := s.options.Searcher.Presets(scope.Tenant)
	rerankers, _ := s.options.Searcher.Models()
	if asked.Preset != "" || slices.Contains(rerankers, asked.RerankID) || !slices.Contains(known, asked.RerankID) {
		return
	}
	asked.Preset, asked.RerankID = asked.RerankID, ""
	if asked.Preset != ragflowPreset {
		asked.VectorWeight = nil
	}
}

// request is the search that it asks for.
func (r *RagflowRetrieval) request() (*search.Request, error) {
	filter, err := filterOf("logic", r.Condition.Logic, r.Condition.Conditions)
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
		Query: r.Question, Plain: true, KnowledgeBases: r.Datasets, Filter: filter,
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
		only, err := sound(search.Filter{"document_id": text(r.Documents)}, "document_ids", "document_ids")
		if err != nil {
			return nil, err
		}
		if filter != nil {
			only = join("all_of", []search.Filter{only, filter})
		}
		req.Filter = only
	}
	r.cut(req)
	return req, nil
}

// cut sets the threshold: on the relevance, and on what preset ragflow has in its place. Of chosen
// documents nothing is cut.
func (r *RagflowRetrieval) cut(req *search.Request) {
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

func ragflowChunkOf(hit *search.Hit, asked *RagflowRetrieval) RagflowChunk {
	chunk := RagflowChunk{
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

// boxesOf are the positions that say a page and a box; lines of a file are no boxes.
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
func (s *Server) ownsDatasets(ctx context.Context, scope access.Scope, ids []string) error {
	for _, id := range ids {
		if _, err := s.options.Catalog.Describe(ctx, scope, id); err != nil {
			return notOwned(err, []string{id})
		}
	}
	return nil
}

// notOwned says in RAGFlow's words that a knowledge base is not there for the caller.
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
