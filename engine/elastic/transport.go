package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/elastic/go-elasticsearch/v8"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// statement is one request to Elasticsearch, exactly as it is sent. Path has
// the parameters; Body is JSON, or one JSON value a line for _msearch and _bulk.
type statement struct {
	Method  string
	Path    string
	Body    []byte
	compact bool // the answer may be SMILE
}

// inSmile asks for the answer in SMILE, for the sake of many hits without content.
func (s statement) inSmile() statement {
	s.compact = true
	return s
}

// with adds a parameter to the path.
func (s statement) with(param string) statement {
	separator := "?"
	if strings.Contains(s.Path, "?") {
		separator = "&"
	}
	s.Path += separator + param
	return s
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
		err := once(ctx, e.reads, s, out)
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
	return once(ctx, e.client, s, out)
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

func once(ctx context.Context, client *elasticsearch.BaseClient, s statement, out any) error {
	req, err := http.NewRequestWithContext(ctx, s.Method, s.Path, bytes.NewReader(s.Body))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "making a request to Elasticsearch")
	}
	req.Header.Set("Accept", mimeJSON)
	if s.compact {
		req.Header.Set("Accept", mimeSmile)
	}
	if len(s.Body) > 0 {
		req.Header.Set("Content-Type", contentType(req.URL.Path))
	}
	res, err := client.Perform(req)
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
	return mimeJSON
}

const mimeJSON = "application/json"

// readable is an answer that reads itself.
type readable interface{ read(r reader) }

// decode reads the answer once, into the text that its strings are parts of.
func decode(ctx context.Context, body io.Reader, out any) error {
	var text strings.Builder
	if whole, ok := body.(interface{ Len() int }); ok {
		text.Grow(whole.Len())
	}
	if _, err := io.Copy(&text, body); err != nil && ctx.Err() != nil {
		return transportFault(ctx, err)
	} else if err != nil {
		return unreadable(err)
	}
	var err error
	switch out := out.(type) {
	case nil:
	case readable:
		r := newReader(text.String())
		out.read(r)
		err = r.end()
	default:
		err = json.Unmarshal([]byte(text.String()), out)
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

func unreadable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
}

// get, post and put make statements.
func get(path string) statement { return statement{Method: http.MethodGet, Path: path} }

func post(path string, body esquery.Body) (statement, error) {
	data, err := esquery.Marshal(body)
	return statement{Method: http.MethodPost, Path: path, Body: data}, unwritable(err)
}

func put(path string, body any) (statement, error) {
	data, err := json.Marshal(body)
	return statement{Method: http.MethodPut, Path: path, Body: data}, unwritable(err)
}

func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.InvalidArgument, err, "a value of the request cannot be written as JSON")
}
