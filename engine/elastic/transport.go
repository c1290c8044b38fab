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

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// statement is one request to Elasticsearch, exactly as it is sent. Path has
// the parameters; Body is JSON, or one JSON value a line for _bulk.
type statement struct {
	Method  string
	Path    string
	param   string // more of Path
	Body    []byte
	query   esquery.Body // instead of Body: it is written where it is sent from
	compact bool         // the answer may be SMILE
}

// asking is post that writes its body whenever it is sent: the body of a search is
// large and of no use to anybody else.
func asking(path string, body esquery.Body) statement {
	return statement{Method: http.MethodPost, Path: path, query: body}
}

// body writes the body.
func (s *statement) body(inSmile bool) (body []byte, err error) {
	switch {
	case s.query == nil:
		return s.Body, nil
	case inSmile:
		body, err = esquery.MarshalSmile(s.query)
	default:
		body, err = esquery.Marshal(s.query)
	}
	return body, unwritable(err)
}

// inSmile asks for the answer in SMILE, for the sake of many hits without content.
func (s statement) inSmile() statement {
	s.compact = true
	return s
}

// with adds a parameter to the path, once.
func (s statement) with(param string) statement {
	s.param = param
	return s
}

// separator is what the parameter follows.
func (s *statement) separator() string {
	switch {
	case s.param == "":
		return ""
	case strings.IndexByte(s.Path, '?') >= 0:
		return "&"
	default:
		return "?"
	}
}

const retryDelay = 50 * time.Millisecond

// do sends a statement that changes nothing and decodes the answer into out
// (which may be nil). It is sent once more when the connection broke, which may have
// been closed while it was idle, or when Elasticsearch says that it cannot serve at
// this moment. Where there are several nodes the next one is asked.
func (e *Engine) do(ctx context.Context, s statement, out any) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	err := e.perform(ctx, &s, out)
	if !fault.Is(err, fault.Unavailable) {
		return err
	}
	if _, refused := errors.AsType[*refusal](err); refused {
		select {
		case <-time.After(retryDelay):
		case <-ctx.Done():
			return transportFault(ctx, ctx.Err())
		}
	}
	return e.perform(ctx, &s, out)
}

// change sends a statement that changes something: once, with the time that
// writing takes.
func (e *Engine) change(ctx context.Context, s statement, out any) error {
	ctx, cancel := context.WithTimeout(ctx, writeFactor*e.timeout)
	defer cancel()
	return e.perform(ctx, &s, out)
}

// perform sends a statement once. The context has to have a deadline.
func (e *Engine) perform(ctx context.Context, s *statement, out any) error {
	body, err := s.body(e.smile)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, s.Path+s.separator()+s.param, bytes.NewReader(body))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "making a request to Elasticsearch")
	}
	req.Header.Set("Accept", s.accepted(e.smile))
	if len(body) > 0 {
		req.Header.Set("Content-Type", s.contentType(e.smile))
	}
	res, err := e.client.Perform(req)
	if err != nil {
		return transportFault(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up
	var text strings.Builder
	text.Grow(int(max(0, res.ContentLength)))
	if _, err := io.Copy(&text, res.Body); err != nil && ctx.Err() != nil {
		return transportFault(ctx, err)
	} else if err != nil {
		return unreadable(err)
	}
	return decode(res.StatusCode, text.String(), out)
}

func (s *statement) accepted(inSmile bool) string {
	if s.compact && inSmile {
		return smile.ContentType
	}
	return mimeJSON
}

func (s *statement) contentType(inSmile bool) string {
	path, _, _ := strings.Cut(s.Path, "?")
	switch {
	case s.query != nil && inSmile:
		return smile.ContentType
	case strings.HasSuffix(path, "/_bulk"), strings.HasSuffix(path, "/_msearch"):
		return "application/x-ndjson"
	default:
		return mimeJSON
	}
}

const mimeJSON = "application/json"

// readable is an answer that reads itself.
type readable interface{ read(r smile.Reader) }

// decode reads an answer; its strings are parts of the text.
func decode(status int, text string, out any) error {
	if status >= http.StatusBadRequest {
		return answerFault(status, text)
	}
	var err error
	switch out := out.(type) {
	case nil:
	case readable:
		err = smile.Read(text, out.read)
	default:
		err = json.Unmarshal([]byte(text), out)
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
