// Package rerank is a client of rerank services: models that read a question
// and a text together and say how well they fit. It speaks the shape that
// Jina, Cohere, vLLM, Xinference and LocalAI share:
//
//	POST URL {"model": "…", "query": "…", "documents": ["…"], "top_n": 2}
//	→ {"results": [{"index": 1, "relevance_score": 0.93}, …]}
package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4 << 20

// Options of a client. URL is that of the rerank endpoint itself.
type Options struct {
	URL     string
	Model   string
	APIKey  string
	Timeout time.Duration // of one request; 10 s when 0
}

// Client reranks; it is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
}

// New makes a client; nothing is sent yet.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	return &Client{options: o, http: &http.Client{Timeout: o.Timeout}}
}

type request struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type response struct {
	Results []struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	} `json:"results"`
}

// Rerank gives one score in [0, 1] per text, in the order of the texts. A
// service that answers in logits is recognised by a score outside of [0, 1];
// all its scores then go through a sigmoid.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	body, err := json.Marshal(request{Model: c.options.Model, Query: query, Documents: texts, TopN: len(texts)})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode the rerank request")
	}
	answer, err := c.post(ctx, body)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(texts))
	seen := make([]bool, len(texts))
	for _, r := range answer.Results {
		if r.Index < 0 || r.Index >= len(texts) || seen[r.Index] || math.IsNaN(r.Score) {
			return nil, fault.New(fault.Unavailable,
				"the rerank service scored text %d of %d, or scored it twice", r.Index, len(texts))
		}
		seen[r.Index], scores[r.Index] = true, r.Score
	}
	if len(answer.Results) != len(texts) {
		return nil, fault.New(fault.Unavailable, "the rerank service scored %d of %d texts", len(answer.Results), len(texts))
	}
	squash(scores)
	return scores, nil
}

func (c *Client) post(ctx context.Context, body []byte) (_ *response, err error) {
	ctx, span := tracing.StartRequest(ctx, "rerank")
	defer func() { span.End(err) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fault.Invalid("reranker.url", c.options.URL, "an http(s) URL")
	}
	req.Header.Set("Content-Type", "application/json")
	if c.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	tracing.Send(ctx, req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		kind := fault.Unavailable
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout) && timeout.Timeout() {
			kind = fault.Timeout
		}
		return nil, fault.Wrap(kind, err, "the rerank service does not answer")
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "read the rerank service's answer")
	}
	if res.StatusCode != http.StatusOK {
		return nil, fault.New(kindOf(res.StatusCode), "the rerank service answered HTTP %d", res.StatusCode)
	}
	var answer response
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the rerank service's answer is not what was expected")
	}
	return &answer, nil
}

func kindOf(status int) fault.Kind {
	if status == http.StatusTooManyRequests {
		return fault.Overloaded
	}
	return fault.Unavailable
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
