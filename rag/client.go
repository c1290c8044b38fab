package rag

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// ClientOptions say how to reach a gateway.
type ClientOptions struct {
	APIKey string       // sent as a bearer token
	HTTP   *http.Client // nil: a client with a timeout of 30 s
}

// Client searches through a gateway over HTTP. It is safe for concurrent use.
type Client struct {
	url     string
	options ClientOptions
}

// At returns a client of the gateway at a URL, such as http://127.0.0.1:8080.
func At(url string, o ClientOptions) *Client {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	return &Client{url: strings.TrimRight(url, "/") + "/v1/search", options: o}
}

// maxAnswer is the most bytes of an answer that are read.
const maxAnswer = 64 << 20

// Search implements Searcher. If the gateway refuses the request, the error is its
// *fault.Error.
func (c *Client) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the request cannot be written as JSON")
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the gateway's URL is no URL")
	}
	post.Header.Set("Content-Type", "application/json")
	if c.options.APIKey != "" {
		post.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	answer, err := c.options.HTTP.Do(post)
	if err != nil {
		return nil, transportFault(err)
	}
	defer func() { _ = answer.Body.Close() }() // nothing depends on it
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, transportFault(err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, problemFault(answer.StatusCode, text)
	}
	var response search.Response
	if err := json.Unmarshal(text, &response); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the gateway's answer cannot be read")
	}
	return &response, nil
}

func transportFault(err error) error {
	var waited interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Canceled, err, "the search was given up by its caller")
	case errors.As(err, &waited) && waited.Timeout():
		return fault.Wrap(fault.Timeout, err, "the gateway took too long")
	default:
		return fault.Wrap(fault.Unavailable, err, "the gateway cannot be reached")
	}
}

// problemFault reads the error from a problem document.
func problemFault(status int, text []byte) error {
	var problem struct {
		Code   fault.Kind `json:"code"`
		Field  string     `json:"field"`
		Detail string     `json:"detail"`
	}
	if json.Unmarshal(text, &problem) != nil || problem.Code == "" {
		return fault.New(fault.Unavailable, "the gateway answered with status %d", status)
	}
	return &fault.Error{Kind: problem.Code, Field: problem.Field, Detail: problem.Detail}
}
