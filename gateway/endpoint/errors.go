package endpoint

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest"
)

// Kinds of error that only HTTP has.
const (
	methodNotAllowed fault.Kind = "method_not_allowed"
	UnsupportedMedia fault.Kind = "unsupported_media_type"
	requestTimeout   fault.Kind = "request_timeout"
	headersTooLarge  fault.Kind = "headers_too_large"
	notImplemented   fault.Kind = "not_implemented"
	tooManyRequests             = fault.TooMany
)

// answers is the one table from the kind of an error to its HTTP status, and to
// the seconds after which it is worth asking again.
var answers = map[fault.Kind]struct {
	status     int
	retryAfter string
}{
	fault.InvalidArgument: {status: http.StatusBadRequest},
	fault.Unauthenticated: {status: http.StatusUnauthorized},
	fault.Forbidden:       {status: http.StatusForbidden},
	fault.NotFound:        {status: http.StatusNotFound},
	fault.Conflict:        {status: http.StatusConflict},
	fault.TooLarge:        {status: http.StatusRequestEntityTooLarge},
	fault.Unsupported:     {status: http.StatusBadRequest},
	fault.ReadOnly:        {status: http.StatusConflict},
	fault.Overloaded:      {status: http.StatusServiceUnavailable, retryAfter: "1"},
	fault.Unavailable:     {status: http.StatusServiceUnavailable, retryAfter: "2"},
	fault.Timeout:         {status: http.StatusGatewayTimeout},
	fault.Canceled:        {status: http.StatusServiceUnavailable, retryAfter: "1"},
	fault.DiskFull:        {status: http.StatusInsufficientStorage},
	fault.Corrupt:         {status: http.StatusInternalServerError},
	fault.Internal:        {status: http.StatusInternalServerError},
	methodNotAllowed:      {status: http.StatusMethodNotAllowed},
	UnsupportedMedia:      {status: http.StatusUnsupportedMediaType},
	requestTimeout:        {status: http.StatusRequestTimeout},
	headersTooLarge:       {status: http.StatusRequestHeaderFieldsTooLarge},
	notImplemented:        {status: http.StatusNotImplemented},
	tooManyRequests:       {status: http.StatusTooManyRequests, retryAfter: "1"},
}

// Problem is an error as the API tells it (RFC 9457).
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank; code tells what happened." example:"about:blank"`
	Title  string `json:"title" doc:"The status in words." example:"Bad Request"`
	Status int    `json:"status" doc:"The HTTP status." example:"400"`
	Code   string `json:"code" doc:"What happened, stable." example:"invalid_argument"`
	Field  string `json:"field,omitempty" doc:"The member of the request at fault." example:"weights.text"`
	Detail string `json:"detail" locale:"text" doc:"What was seen and what is accepted."`
	// Of a change of chunks that some of them refused.
	Changed *int           `json:"changed,omitempty" doc:"Chunks that were changed, or deleted, before this; only where some were refused."`
	Failed  []RefusedChunk `json:"failed,omitempty" doc:"The first chunks, at most 100, that stay as they were."`
}

// RefusedChunk is a chunk that was not changed.
type RefusedChunk struct {
	ID     string `json:"id" doc:"Id of the chunk."`
	Code   string `json:"code" doc:"What happened, as that of the problem."`
	Detail string `json:"detail" locale:"text" doc:"Why it stays as it was."`
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// ProblemOf converts an error for the caller. An internal failure, or one without a fault.Error,
// has no detail.
func ProblemOf(err error) Problem {
	kind := KindOf(err)
	if _, known := answers[kind]; !known {
		kind = fault.Internal
	}
	status := answers[kind].status
	p := Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: string(kind)}
	var f *fault.Error
	switch {
	case kind == fault.Internal:
		p.Detail = "the gateway failed; its log says why, under the answer's X-Request-Id"
	case errors.As(err, &f):
		p.Field, p.Detail = f.Field, f.Detail
	case kind == fault.Timeout:
		p.Detail = "the request took longer than it may"
	case kind == fault.DiskFull:
		p.Detail = "the gateway's disk is full"
	default:
		p.Detail = "the request was cancelled; the gateway may be shutting down"
	}
	if partly, yes := errors.AsType[*ingest.Incomplete](err); yes {
		p.Changed = &partly.Chunks
		for _, f := range partly.Failed {
			why := ProblemOf(f.Err)
			p.Failed = append(p.Failed, RefusedChunk{ID: f.ID, Code: why.Code, Detail: why.Detail})
		}
	}
	return p
}

// KindOf also knows the two errors of a context that have no kind.
func KindOf(err error) fault.Kind {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout
	case errors.Is(err, syscall.ENOSPC):
		return fault.DiskFull
	case errors.Is(err, context.Canceled):
		return fault.Canceled
	default:
		return fault.Internal
	}
}

// fromFiber gives fiber's own errors a kind. Their texts are not shown: they
// repeat parts of the request.
func fromFiber(err error) error {
	var f *fiber.Error
	if !errors.As(err, &f) {
		return err
	}
	switch f.Code {
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "there is no such route; GET / lists them")
	case http.StatusMethodNotAllowed:
		return fault.New(methodNotAllowed, "this route does not take that method; the Allow header lists those it takes")
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "the body is too large")
	case http.StatusRequestHeaderFieldsTooLarge:
		return fault.New(headersTooLarge, "the request line and headers are over 16 KiB")
	case http.StatusRequestTimeout:
		return fault.New(requestTimeout, "the request did not arrive in time")
	case http.StatusBadRequest, http.StatusBadGateway:
		return fault.New(fault.InvalidArgument, "the request is not well-formed HTTP")
	default:
		return fault.Wrap(fault.Internal, err, "fiber")
	}
}

// bodyFailed explains why a body could not be read.
func bodyFailed(err error) error {
	var f *fault.Error
	var network net.Error
	switch {
	case errors.As(err, &f):
		return err
	case errors.As(err, &network) && network.Timeout():
		return fault.Wrap(requestTimeout, err, "the body did not arrive in time")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	default:
		return fault.Wrap(fault.InvalidArgument, err, "the body ended before it was complete")
	}
}
