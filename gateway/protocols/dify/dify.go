// Package dify speaks Dify's external knowledge API.
//
// Types that the OpenAPI document names begin with the protocol's name, here and in the packages beside.
package dify

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/conditions"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// Dify's codes of errors; others have the HTTP status for one.
// https://docs.dify.ai/en/guides/knowledge-base/api-documentation/external-knowledge-api-documentation
const (
	difyMalformedKey = 1001
	difyForbidden    = 1002
	difyNoKnowledge  = 2001
)

var members = map[string]string{
	"knowledge_bases": "knowledge_id", "knowledge_base": "knowledge_id", "top_k": "retrieval_setting.top_k",
	"threshold": "retrieval_setting.score_threshold", "filter": "metadata_condition.conditions",
}

// difyRetrieval is Dify's request to an external knowledge base.
type difyRetrieval struct {
	KnowledgeID string `json:"knowledge_id" doc:"Id of a knowledge base, or several with commas between them."`
	Query       string `json:"query" doc:"The question, as plain text."`
	Setting     struct {
		TopK           *int     `json:"top_k,omitempty" minimum:"1" maximum:"10000" doc:"Records at most; the preset's number when left out."`
		ScoreThreshold *float64 `json:"score_threshold,omitempty" minimum:"0" maximum:"1" doc:"Least score of a record."`
	} `json:"retrieval_setting,omitempty"`
	Condition struct {
		Logic      string                         `json:"logical_operator,omitempty" enum:"and,or" doc:"How the conditions are joined; and when left out."`
		Conditions []conditions.MetadataCondition `json:"conditions,omitempty"`
	} `json:"metadata_condition,omitempty"`
}

// difyRecords is the answer: the records, best first.
type difyRecords struct {
	Records []difyRecord `json:"records"`
}

// difyRecord is a chunk as Dify takes it.
type difyRecord struct {
	Content  string         `json:"content"`
	Score    float64        `json:"score" minimum:"0" maximum:"1" doc:"The relevance; where that is not known, the fused score."`
	Title    string         `json:"title"`
	Metadata map[string]any `json:"metadata" doc:"Those of the chunk, and where it is: document_id, document_name, chunk_id, knowledge_base, page."`
}

// difyError is an error in Dify's form.
type difyError struct {
	Code    int    `json:"error_code" doc:"1001: the key is not presented as it must be, 1002: it may not, 2001: there is no such knowledge base; otherwise the HTTP status."`
	Message string `json:"error_msg"`
}

type difyInput struct {
	Body difyRetrieval
}

// Searcher answers questions.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

type protocol struct{ searcher Searcher }

// Register adds the protocol.
func Register(api *endpoint.API, searcher Searcher) {
	p := &protocol{searcher}
	endpoint.Register(api, endpoint.Route{
		Method: http.MethodPost, Path: "/dify/retrieval", Tag: "protocols", Access: endpoint.Reads,
		ID: "dify-retrieval", Summary: "Dify's external knowledge API",
		About:   "In Dify, the endpoint of the external knowledge API is this gateway's address with /dify.",
		Dialect: &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[difyError](), Members: members},
	}, p.retrieve)
}

func refusal(c *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	told := difyError{Code: p.Status, Message: p.Detail}
	switch fault.Kind(p.Code) { //nolint:exhaustive // the others have the status for a code
	case fault.Unauthenticated:
		p.Status, told.Code = http.StatusForbidden, difyForbidden
		if endpoint.PresentedKey(c) == "" {
			told.Code = difyMalformedKey
		}
	case fault.Forbidden:
		told.Code = difyForbidden
	case fault.NotFound:
		told.Code = difyNoKnowledge
	}
	return p.Status, told
}

func (p *protocol) retrieve(ctx context.Context, scope access.Scope, in *difyInput) (*difyRecords, error) {
	asked := &in.Body
	least := asked.Setting.ScoreThreshold
	if least != nil && !(*least >= 0 && *least <= 1) {
		return nil, fault.Invalid("retrieval_setting.score_threshold", *least, "0 to 1")
	}
	filter, err := conditions.Filter("logical_operator", asked.Condition.Logic, asked.Condition.Conditions)
	if err != nil {
		return nil, err
	}
	none := 0
	req := search.Request{
		Query: asked.Query, Plain: true, Filter: filter, TopK: asked.Setting.TopK,
		Highlight: &search.Highlight{Fragments: &none},
	}
	for id := range strings.SplitSeq(asked.KnowledgeID, ",") {
		if id = strings.TrimSpace(id); id != "" {
			req.KnowledgeBases = append(req.KnowledgeBases, id)
		}
	}
	if len(req.KnowledgeBases) == 0 {
		return nil, fault.Invalid("knowledge_id", asked.KnowledgeID, "the id of a knowledge base")
	}
	if least != nil && *least > 0 {
		req.Threshold.Relevance = least
	}
	found, err := p.searcher.Search(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	answer := &difyRecords{Records: []difyRecord{}}
	for i := range found.Hits {
		record := difyRecordOf(&found.Hits[i])
		if least == nil || record.Score >= *least {
			answer.Records = append(answer.Records, record)
		}
	}
	return answer, nil
}

func difyRecordOf(hit *search.Hit) difyRecord {
	cited := rag.Cite(hit, 1)
	record := difyRecord{
		Content: rag.Text(hit), Title: cited.Source, Score: hit.Score, Metadata: map[string]any{},
	}
	if hit.Relevance != nil {
		record.Score = *hit.Relevance
	}
	maps.Copy(record.Metadata, hit.Metadata)
	record.Metadata["document_id"] = hit.DocumentID
	if hit.DocumentName != "" {
		record.Metadata["document_name"] = hit.DocumentName
	}
	record.Metadata["chunk_id"] = hit.ID
	record.Metadata["knowledge_base"] = hit.KnowledgeBase
	if cited.Page != nil {
		record.Metadata["page"] = *cited.Page
	}
	return record
}
