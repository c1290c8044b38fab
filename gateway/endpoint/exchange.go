package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Exchange holds the data for the log line and the metrics of a request.
type Exchange struct {
	ID    string
	Start time.Time
	Route string // the path's pattern

	dialect *Dialect // of the route; nil: that of this API
	Key     string
	tenant  string
	Roles   []string // of the key; nil: all
	// stranger: keys are configured and the caller has none of them.
	stranger bool
	// restricted: the route is not public.
	restricted bool
	probe      bool // a machine asks whether the gateway lives
	span       tracing.Span
	Body       RequestBody
	notes      []slog.Attr
	left       atomic.Bool // the client did, before its answer
}

type exchangeKey struct{}

// ExchangeOf is the exchange that a request is part of.
func ExchangeOf(c *fiber.Ctx) *Exchange { return c.Locals(exchangeKey{}).(*Exchange) }

// ExchangeIn is the exchange of the request that ctx belongs to; nil without one.
func ExchangeIn(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// Annotate adds to the log line of the request that ctx belongs to.
func Annotate(ctx context.Context, notes ...slog.Attr) {
	if x := ExchangeIn(ctx); x != nil {
		x.notes = append(x.notes, notes...)
	}
}

// IsStranger reports whether a key would be needed and the caller has none: then it learns
// nothing of versions and engines.
func IsStranger(ctx context.Context) bool {
	x := ExchangeIn(ctx)
	return x != nil && x.stranger
}

// RequestAttrs gives the attributes of log lines that identify the request of a context.
func RequestAttrs(ctx context.Context) []slog.Attr {
	if x := ExchangeIn(ctx); x != nil {
		return []slog.Attr{slog.String("request_id", x.ID)}
	}
	return nil
}

// endSpan records in the trace how the request ended. A refused one did not fail here.
func (x *Exchange) endSpan(method string, status int, err error) {
	if x.span.On() {
		x.span.Name(method + " " + x.Route)
		x.span.Note("http.request.method", method)
		x.span.Note("http.route", x.Route)
		x.span.Count("http.response.status_code", status)
		x.span.Note("hybridge.request_id", x.ID)
	}
	if status < http.StatusInternalServerError {
		err = nil
	}
	x.span.End(err)
}

// requestID returns the client's id if it is harmless in headers and logs, else a new one.
func requestID(given string) string {
	if given == "" || len(given) > 128 || strings.ContainsFunc(given, isOutsideID) {
		return rand.Text()
	}
	return given
}

func isOutsideID(r rune) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"
	return !strings.ContainsRune(allowed, r)
}

// recovered calls a handler and turns a panic into an error, so that it does not end the
// process.
func recovered(handle func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()), "handling the request")
		}
	}()
	return handle()
}
