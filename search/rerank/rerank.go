// Package rerank is a client of rerank services: models that read a question
// and a text together and score how well they fit. It speaks three shapes:
//
//	cohere  Cohere, Jina, vLLM, Xinference, LocalAI
//	        {"model": "…", "query": "…", "documents": ["…"], "top_n": 2}
//	        → {"results": [{"index": 1, "relevance_score": 0.93}, …]}
//	tei     Hugging Face's text-embeddings-inference
//	        {"query": "…", "texts": ["…"], "truncate": true}
//	        → [{"index": 1, "score": 0.93}, …]
//	voyage  Voyage AI
//	        {"model": "…", "query": "…", "documents": ["…"], "top_k": 2}
//	        → {"data": [{"index": 1, "relevance_score": 0.93}, …]}
//
// https://docs.cohere.com/reference/rerank
// https://huggingface.github.io/text-embeddings-inference
// https://docs.voyageai.com/reference/reranker-api
package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/service"
)

// Options of a client. URL is the address of the rerank endpoint itself.
type Options struct {
	URL     string
	Model   string
	APIKey  string
	Timeout time.Duration // of one request; 10 s when 0
	Shape   string        // one of Shapes; empty: the first
}

// Shapes are the known request formats of services.
var Shapes = []string{shapeCohere, shapeTEI, shapeVoyage}

const (
	shapeCohere = "cohere"
	shapeTEI    = "tei"
	shapeVoyage = "voyage"
)

// Client reranks; it is safe for concurrent use.
type Client struct {
	options Options
	service *service.Client
}

// New makes a client; nothing is sent yet.
func New(o Options) *Client {
	return &Client{options: o, service: service.New("rerank", o.URL, o.APIKey, o.Timeout)}
}

type request struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents,omitempty"`
	Texts     []string `json:"texts,omitempty"`
	TopN      int      `json:"top_n,omitempty"`
	TopK      int      `json:"top_k,omitempty"`
	Truncate  bool     `json:"truncate,omitempty"`
}

func (o *Options) request(query string, texts []string) request {
	switch o.Shape {
	case shapeTEI:
		return request{Query: query, Texts: texts, Truncate: true}
	case shapeVoyage:
		return request{Model: o.Model, Query: query, Documents: texts, TopK: len(texts)}
	default:
		return request{Model: o.Model, Query: query, Documents: texts, TopN: len(texts)}
	}
}

// result is one text's score, whatever its name in the service's reply.
type result struct {
	Index     int      `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// read reads the results of an answer in any of the shapes.
func read(content []byte) (results []result, err error) {
	if content = bytes.TrimSpace(content); bytes.HasPrefix(content, []byte("[")) {
		err = json.Unmarshal(content, &results)
		return results, err
	}
	var answer struct {
		Results []result `json:"results"`
		Data    []result `json:"data"`
	}
	err = json.Unmarshal(content, &answer)
	return append(answer.Results, answer.Data...), err
}

// score is NaN if there is none.
func (r *result) score() float64 {
	switch {
	case r.Relevance != nil:
		return *r.Relevance
	case r.Score != nil:
		return *r.Score
	default:
		return math.NaN()
	}
}

// Rerank gives one score in [0, 1] per text, in the order of the texts. A
// service that answers in logits is recognised by a score outside of [0, 1];
// all its scores then go through a sigmoid.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	content, err := c.service.Post(ctx, c.options.request(query, texts))
	if err != nil {
		return nil, err
	}
	results, err := read(content)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the rerank service's answer is not what was expected")
	}
	scores := make([]float64, len(texts))
	seen := make([]bool, len(texts))
	for i := range results {
		r := &results[i]
		score := r.score()
		if r.Index < 0 || r.Index >= len(texts) || seen[r.Index] || math.IsNaN(score) {
			return nil, fault.New(fault.Unavailable,
				"the rerank service scored text %d of %d, or scored it twice", r.Index, len(texts))
		}
		seen[r.Index], scores[r.Index] = true, score
	}
	if len(results) != len(texts) {
		return nil, fault.New(fault.Unavailable, "the rerank service scored %d of %d texts", len(results), len(texts))
	}
	squash(scores)
	return scores, nil
}

// squash maps logits into [0, 1] and leaves probabilities as they are.
func squash(scores []float64) {
	logits := false
	for _, s := range scores {
		logits = logits || s < 0 || s > 1
	}
	if !logits {
		return
	}
	for i, s := range scores {
		scores[i] = 1 / (1 + math.Exp(-s))
	}
}
