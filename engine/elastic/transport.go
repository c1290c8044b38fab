package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/fault"
)

// statement is one request to Elasticsearch, exactly as it is sent. Path has
// the parameters; Body is JSON, or one JSON value a line for _msearch and _bulk.
type statement struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body,omitempty"`
}

const (
	readTries  = 2 // of a request that changes nothing
	firstDelay = 50 * time.Millisecond
)

// do sends a statement that changes nothing and decodes the answer into out
// (which may be nil). When the node cannot be reached, the next one is tried.
func (e *Engine) do(ctx context.Context, s statement, out any) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = firstDelay
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := e.once(ctx, s, out)
		if err != nil && !fault.Is(err, fault.Unavailable) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(readTries), backoff.WithBackOff(delays))
	return unwrap(ctx, err)
}

// change sends a statement that changes something: once, with the time that
// writing takes.
func (e *Engine) change(ctx context.Context, s statement, out any) error {
	ctx, cancel := context.WithTimeout(ctx, writeFactor*e.timeout)
	defer cancel()
	return e.once(ctx, s, out)
}

// unwrap takes the fault out of what backoff makes of it.
func unwrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if found, ok := errors.AsType[*fault.Error](err); ok {
		return found
	}
	return transportFault(ctx, err) // the context ended between two tries
}

func (e *Engine) once(ctx context.Context, s statement, out any) error {
	req, err := http.NewRequestWithContext(ctx, s.Method, s.Path, strings.NewReader(s.Body))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "making a request to Elasticsearch")
	}
	req.Header.Set("Accept", "application/json")
	if s.Body != "" {
		req.Header.Set("Content-Type", contentType(req.URL.Path))
	}
	res, err := e.client.Perform(req)
	if err != nil {
		return transportFault(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up
	if res.StatusCode >= http.StatusBadRequest {
		return answerFault(res)
	}
	return decode(ctx, res.Body, out)
}

func contentType(path string) string {
	if strings.HasSuffix(path, "/_msearch") || strings.HasSuffix(path, "/_bulk") {
		return "application/x-ndjson"
	}
	return "application/json"
}

func decode(ctx context.Context, body io.Reader, out any) error {
	if out == nil {
		_, err := io.Copy(io.Discard, body)
		return transportFault(ctx, err)
	}
	err := json.NewDecoder(body).Decode(out)
	if err == nil {
		_, err = io.Copy(io.Discard, body) // so that the connection is used again
		return transportFault(ctx, err)
	}
	if ctx.Err() != nil {
		return transportFault(ctx, err)
	}
	return fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
}

// get, post and put make statements; body is marshalled to JSON.
func get(path string) statement { return statement{Method: http.MethodGet, Path: path} }

func post(path string, body any) (statement, error) { return withBody(http.MethodPost, path, body) }

func put(path string, body any) (statement, error) { return withBody(http.MethodPut, path, body) }

func withBody(method, path string, body any) (statement, error) {
	s := statement{Method: method, Path: path}
	data, err := json.Marshal(body)
	if err != nil {
		return s, fault.Wrap(fault.InvalidArgument, err, "a value of the request cannot be written as JSON")
	}
	s.Body = string(data)
	return s, nil
}
