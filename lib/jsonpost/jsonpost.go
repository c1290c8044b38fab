// Package jsonpost sends JSON to services that models answer behind.
package jsonpost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4 << 20

// Client posts to one address. It is safe for concurrent use.
type Client struct {
	service, url, key string
	http              *http.Client
}

// New makes a client of a service, which errors and spans call by its name, such as rerank;
// nothing is sent yet. The key is a bearer token; timeout is that of one request, 10 s when 0.
func New(service, url, key string, timeout time.Duration) *Client {
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	return &Client{service: service, url: url, key: key, http: &http.Client{Timeout: timeout}}
}

// Post sends a value and gives the body of a successful answer. Errors are of the kinds
// Timeout, Overloaded and Unavailable.
func (c *Client) Post(ctx context.Context, value any) (_ []byte, err error) {
	ctx, span := tracing.StartRequest(ctx, c.service)
	defer func() { span.End(err) }()
	body, err := json.Marshal(value)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode the %s request", c.service)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the %s request", c.service)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	tracing.Send(ctx, req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		kind := fault.Unavailable
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout) && timeout.Timeout() {
			kind = fault.Timeout
		}
		return nil, fault.Wrap(kind, err, "the %s service does not answer", c.service)
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "read the %s service's answer", c.service)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fault.New(kindOf(res.StatusCode), "the %s service answered HTTP %d", c.service, res.StatusCode)
	}
	return content, nil
}

func kindOf(status int) fault.Kind {
	if status == http.StatusTooManyRequests {
		return fault.Overloaded
	}
	return fault.Unavailable
}
