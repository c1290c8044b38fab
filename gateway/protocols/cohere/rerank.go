// Package cohere speaks Cohere's rerank.
package cohere

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

// rerankBytes is room for search.MaxTexts texts of the maximum length.
const rerankBytes = 24 << 20

// RerankRequest asks how well texts answer a question, in the form of Cohere, which Jina, Xinference
// and vLLM have too. https://docs.cohere.com/reference/rerank
type RerankRequest struct {
	Model     string         `json:"model,omitempty" doc:"fusion, also when left out: by words and cosine; or the name of a configured reranker."`
	Query     string         `json:"query" doc:"The question."`
	Documents []rerankedText `json:"documents" doc:"1 to 1000 texts; of each its first 16 KiB are read."`
	TopN      *int           `json:"top_n,omitempty" minimum:"1" maximum:"1000" doc:"Results at most; all when left out."`
	Return    bool           `json:"return_documents,omitempty" doc:"Adds the texts to the results."`
}

// rerankedText is a text, or an object that has one.
type rerankedText string

func (rerankedText) Accepts() (accepted string) {
	return `a text, or an object with one: {"text": …}`
}

// UnmarshalJSON reads either.
func (t *rerankedText) UnmarshalJSON(text []byte) error {
	var document struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(text, (*string)(t)) == nil && string(text) != "null" {
		return nil
	}
	if err := json.Unmarshal(text, &document); err != nil || document.Text == nil {
		return cmp.Or(err, errors.New("it has no text"))
	}
	*t = rerankedText(*document.Text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (rerankedText) Schema(r huma.Registry) *huma.Schema {
	object := r.Schema(reflect.TypeFor[RerankedDocument](), true, "")
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, object}}
}

// RerankAnswer has the texts' scores, best first.
type RerankAnswer struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Results []RerankResult `json:"results"`
	Meta    struct {
		Version struct {
			Version string `json:"version"`
		} `json:"api_version"`
		Warnings []string `json:"warnings,omitempty" doc:"What fusion had to do without."`
	} `json:"meta"`
}

// RerankResult is the score of a text.
type RerankResult struct {
	Index    int               `json:"index" doc:"Of the text in the request, from 0."`
	Score    float64           `json:"relevance_score" minimum:"0" maximum:"1" doc:"Of fusion the relevance: the probability that the text answers the question."`
	Document *RerankedDocument `json:"document,omitempty"`
}

// RerankedDocument is a text.
type RerankedDocument struct {
	Text string `json:"text"`
}

// RerankError is an error in Cohere's form.
type RerankError struct {
	Message string `json:"message"`
}

type rerankInput struct {
	Body RerankRequest
}

// Searcher scores texts that no knowledge base holds.
type Searcher interface {
	ScoreTexts(ctx context.Context, req *search.TextsRequest) (*search.TextScores, error)
}

type protocol struct{ searcher Searcher }

// Register adds the protocol.
func Register(api *endpoint.API, searcher Searcher) {
	p := &protocol{searcher}
	for _, version := range []string{"1", "2"} {
		endpoint.Register(api, endpoint.Route{
			Method: http.MethodPost, Path: "/v" + version + "/rerank", Tag: "protocols", Access: endpoint.Reads,
			BodyBytes: rerankBytes,
			ID:        "rerank-v" + version, Summary: "Cohere's rerank: how well each of some texts answers a question",
			About: "For programs that have a search of their own: the texts come in the request, and nothing is stored. Their " +
				"scores are relevances, or those of a configured reranker.",
			Dialect: &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[RerankError]()},
		}, func(ctx context.Context, _ access.Scope, in *rerankInput) (*RerankAnswer, error) {
			answer, err := p.rerank(ctx, &in.Body)
			if err == nil {
				answer.Meta.Version.Version = version
			}
			return answer, err
		})
	}
}

func refusal(_ *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	return p.Status, RerankError{Message: p.Detail}
}

func (p *protocol) rerank(ctx context.Context, asked *RerankRequest) (*RerankAnswer, error) {
	if n := asked.TopN; n != nil && (*n < 1 || *n > search.MaxTexts) {
		return nil, fault.Invalid("top_n", *n, "1 to 1000")
	}
	texts := make([]string, len(asked.Documents))
	for i, text := range asked.Documents {
		texts[i] = string(text)
	}
	request := search.TextsRequest{Model: asked.Model, Query: asked.Query, Texts: texts}
	scored, err := p.searcher.ScoreTexts(ctx, &request)
	if err != nil {
		return nil, err
	}
	answer := &RerankAnswer{ID: uuid.NewString(), Model: scored.Model, Results: make([]RerankResult, len(texts))}
	for i, score := range scored.Scores {
		answer.Results[i] = RerankResult{Index: i, Score: score}
		if asked.Return {
			answer.Results[i].Document = &RerankedDocument{Text: texts[i]}
		}
	}
	slices.SortStableFunc(answer.Results, func(a, b RerankResult) int { return cmp.Compare(b.Score, a.Score) })
	if asked.TopN != nil {
		answer.Results = answer.Results[:min(len(answer.Results), *asked.TopN)]
	}
	for _, d := range scored.Degraded {
		answer.Meta.Warnings = append(answer.Meta.Warnings, strings.TrimSpace(d.Leg+": "+d.Reason))
	}
	return answer, nil
}
