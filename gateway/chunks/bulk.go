package chunks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/locale"
)

// bulk is the input and the output of a bulk request: chunks in, results out.
type bulk struct {
	lines io.Reader
	emit  func(ingest.Result) error
}

// bulkHandler writes the chunks of the lines and emits their results. It must
// not read after it has returned.
type bulkHandler[I any] func(ctx context.Context, scope access.Scope, in *I, job bulk) error

// chunksWritten has the results of a body that is an array.
type chunksWritten struct {
	Results []ingest.Result `json:"results" doc:"In the order of the chunks; line counts them from 1. When the input could not be read to its end, a last result with line 0 says why."`
}

// registerBulk adds a route that takes NDJSON, one chunk a line, and answers NDJSON, one result a
// line; or a JSON array, and answers an object. The body is read as it comes, however long.
func registerBulk[I any](s *documentService, r endpoint.Route, handle bulkHandler[I]) {
	r.Status, r.Timeout = http.StatusOK, s.api.Limits.Ingest
	in := s.api.Document.InputOf(reflect.TypeFor[I]())
	s.documentBulk(&r, in)
	serve := func(ctx context.Context, scope access.Scope, c *fiber.Ctx, input *I, body *endpoint.RequestBody) error {
		results, language := &endpoint.Spool{Limit: s.api.Limits.SpoolBytes}, endpoint.LanguageOf(c)
		lines, array := io.Reader(body), endpoint.IsJSON(c.Get(fiber.HeaderContentType))
		if array {
			lines = endpoint.NewArrayLines(body)
		}
		err := handle(ctx, scope, input, bulk{lines: lines, emit: s.emitter(results, language)})
		if err != nil && results.Size > 0 {
			endpoint.Annotate(ctx, slog.String("interrupted", err.Error()))
			err = interrupt(results, language, err)
		}
		if err != nil {
			return discard(results, err)
		}
		return sendSpool(c, results, array)
	}
	endpoint.MountStream(s.api, &r, in, endpoint.ChunkTypes, serve)
}

func (s *documentService) emitter(results *endpoint.Spool, language *locale.Language) func(ingest.Result) error {
	return func(result ingest.Result) error {
		s.ingested.WithLabelValues(string(result.Status)).Inc()
		return endpoint.EncodeLine(results, language.Answer(result))
	}
}

// interrupt adds a last line that says why the rest of the input was not processed. The
// lines before it remain true.
func interrupt(results *endpoint.Spool, language *locale.Language, cause error) error {
	p := endpoint.ProblemOf(cause)
	return endpoint.EncodeLine(results, language.Answer(ingest.Result{
		Status: engine.Failed,
		Error:  &ingest.Failure{Code: fault.Kind(p.Code), Field: p.Field, Detail: p.Detail},
	}))
}

// sendSpool answers with the results, as lines or as chunksWritten.
func sendSpool(c *fiber.Ctx, results *endpoint.Spool, array bool) error {
	reader, err := results.Reader()
	if err != nil {
		return discard(results, err)
	}
	if array {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		c.Context().SetBodyStream(&listed{lines: bufio.NewReader(reader), Closer: reader}, -1)
		return nil
	}
	c.Set(fiber.HeaderContentType, endpoint.NDJSON)
	c.Context().SetBodyStream(reader, results.Size) // closes it when sent
	return nil
}

// listed makes lines the results of a chunksWritten.
type listed struct {
	lines *bufio.Reader
	io.Closer
	part  []byte
	count int
	ended bool
}

// Read implements io.Reader.
func (l *listed) Read(into []byte) (int, error) {
	for len(l.part) == 0 {
		if l.ended {
			return 0, io.EOF
		}
		line, err := l.lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read the results: %w", err)
		}
		if l.count == 0 {
			l.part = append(l.part, `{"results":[`...)
		} else if len(line) > 0 {
			l.part = append(l.part, ',')
		}
		l.count++
		l.part = append(l.part, bytes.TrimSuffix(line, []byte("\n"))...)
		if l.ended = err != nil; l.ended {
			l.part = append(l.part, "]}\n"...)
		}
	}
	n := copy(into, l.part)
	l.part = l.part[n:]
	return n, nil
}

// discard drops the results of a request that failed.
func discard(results *endpoint.Spool, cause error) error {
	if err := results.Close(); err != nil {
		return fault.Wrap(fault.Internal, err, "drop the results of a failed request")
	}
	return cause
}

func (s *documentService) documentBulk(r *endpoint.Route, in *endpoint.Input) {
	op := s.api.Document.Operation(r, in)
	chunk := s.api.Document.SchemaOf(reflect.TypeFor[ingest.Chunk]())
	s.api.Document.AsRequest(chunk)
	op.RequestBody = &huma.RequestBody{
		Required:    true,
		Description: "One chunk a line, or an array of chunks.",
		Content: map[string]*huma.MediaType{
			endpoint.NDJSON:           {Schema: chunk},
			fiber.MIMEApplicationJSON: {Schema: &huma.Schema{Type: huma.TypeArray, Items: chunk}},
		},
	}
	op.Responses["200"] = &huma.Response{
		Description: "One result a line, in the order of the chunks. When the input could not be read to its end, " +
			"a last result with line 0 says why. To an array an object with all results.",
		Content: map[string]*huma.MediaType{
			endpoint.NDJSON:           {Schema: s.api.Document.SchemaOf(reflect.TypeFor[ingest.Result]())},
			fiber.MIMEApplicationJSON: {Schema: s.api.Document.SchemaOf(reflect.TypeFor[chunksWritten]())},
		},
	}
	s.api.Document.AddOperation(op)
}
