// Package service asks services that others run: models, converters of files.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// maxRefusal bounds what is read of an answer that is an error, in bytes.
const maxRefusal = 16 << 10

// maxAnswer bounds what is read of an answer in JSON, in bytes.
const maxAnswer = 4 << 20

// Client asks one address. It is safe for concurrent use.
type Client struct {
	service, url, key string
	http              *http.Client
}

// New makes a client of a service, which errors and spans call by its name, such as rerank; nothing is sent
// yet. The key is a bearer token; timeout bounds one request, 10 s if 0.
func New(service, url, key string, timeout time.Duration) *Client {
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	return &Client{service: service, url: url, key: key, http: &http.Client{Timeout: timeout}}
}

// Request is one request to a service.
type Request struct {
	Method    string // such as PUT; POST when empty
	Header    http.Header
	Body      []byte
	MaxAnswer int // bytes of the answer, whose longer ones are errors
}

// Answer is a successful one.
type Answer struct {
	ContentType string
	Body        []byte
}

// Status is the status of an answer that is not successful, which errors of Ask wrap.
type Status int

func (s Status) Error() string { return fmt.Sprintf("HTTP %d", int(s)) }

// Post sends a value and gives the body of a successful answer. Errors are of the kinds
// Timeout, Overloaded and Unavailable.
func (c *Client) Post(ctx context.Context, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode the %s request", c.service)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	answer, err := c.Ask(ctx, &Request{Header: header, Body: body, MaxAnswer: maxAnswer})
	return answer.Body, err
}

// Ask sends a request and reads the whole answer. Errors are as of Post.
func (c *Client) Ask(ctx context.Context, r *Request) (_ Answer, err error) {
	ctx, span := tracing.StartRequest(ctx, c.service)
	defer func() { span.End(err) }()
	res, err := c.send(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(res.Body, int64(r.MaxAnswer)+1))
	switch {
	case err != nil:
		return Answer{}, fault.Wrap(fault.Unavailable, err, "read the %s service's answer", c.service)
	case len(content) > r.MaxAnswer:
		return Answer{}, c.tooLarge(r.MaxAnswer)
	}
	return Answer{ContentType: res.Header.Get("Content-Type"), Body: content}, nil
}

func (c *Client) tooLarge(most int) error {
	return fault.New(fault.Unavailable, "the %s service's answer is larger than %d bytes", c.service, most)
}

// send gives a successful answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, r *Request) (*http.Response, error) {
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the %s request", c.service)
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	tracing.Send(ctx, req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		kind := fault.Unavailable
		if isTimeout(err) {
			kind = fault.Timeout
		}
		return nil, fault.Wrap(kind, err, "the %s service does not answer", c.service)
	}
	if status := Status(res.StatusCode); status != http.StatusOK {
		defer func() { _ = res.Body.Close() }()
		said, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what did not arrive says nothing
		if why := reason.OfBody(said, c.key); why != "" {
			return nil, fault.Wrap(kindOf(status), status, "the %s service answered HTTP %d: %s", c.service, int(status), why)
		}
		return nil, fault.Wrap(kindOf(status), status, "the %s service answered HTTP %d", c.service, int(status))
	}
	return res, nil
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func kindOf(status Status) fault.Kind {
	if status == http.StatusTooManyRequests {
		return fault.Overloaded
	}
	return fault.Unavailable
}
