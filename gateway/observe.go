package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// exchange holds what the log line and the metrics of a request need.
type exchange struct {
	id    string
	start time.Time
	route string // the path's pattern

	dialect *dialect // of the route; nil: that of this API
	key     string
	tenant  string
	roles   []string // of the key; nil: all
	// stranger: keys are configured and the caller has none of them.
	stranger bool
	// restricted: the route is not public.
	restricted bool
	probe      bool // a machine asks whether the gateway lives
	span       tracing.Span
	body       requestBody
	notes      []slog.Attr
	left       atomic.Bool // the client did, before its answer
}

type exchangeKey struct{}

func exchangeOf(c *fiber.Ctx) *exchange { return c.Locals(exchangeKey{}).(*exchange) }

// annotate adds to the log line of the request that ctx belongs to.
func annotate(ctx context.Context, notes ...slog.Attr) {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		x.notes = append(x.notes, notes...)
	}
}

// observe wraps every request: it assigns an id, answers errors, counts and logs.
func (s *Server) observe(c *fiber.Ctx) error {
	x := &exchange{
		id:    requestID(c.Get(fiber.HeaderXRequestID)),
		start: time.Now(),
		route: unmatched,
		body:  newRequestBody(c),
	}
	x.probe = slices.Contains(probes, c.Path())
	if !x.probe && c.Path() != metricsPath {
		_, x.span = tracing.Serve(s.base, s.options.Tracing, c.Get("traceparent"), c.Get("tracestate"))
	}
	c.Locals(exchangeKey{}, x)
	c.Set(fiber.HeaderXRequestID, x.id)
	s.secure(c)
	s.metrics.inFlight.Inc()
	defer s.metrics.inFlight.Dec()

	err := recovered(c.Next)
	if err != nil {
		err = fromFiber(err)
		s.refuse(c, x, err)
	}
	if !x.body.drain() {
		c.Context().SetConnectionClose()
	}
	s.record(c, x, err)
	return nil
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

// clientLeft is how metrics count a request whose answer nobody waited for, as other servers do.
const clientLeft = 499

// record counts and logs a request.
func (s *Server) record(c *fiber.Ctx, x *exchange, err error) {
	took := time.Since(x.start)
	status := c.Response().StatusCode()
	counted := status
	if x.left.Load() {
		counted = clientLeft
	}
	s.metrics.requests.WithLabelValues(x.route, c.Method(), statusLabel(counted)).Inc()
	s.metrics.durations.WithLabelValues(x.route, c.Method()).Observe(took.Seconds())

	level := slog.LevelInfo
	if x.left.Load() {
		x.notes = append(x.notes, slog.Bool("client_left", true))
	} else if status >= http.StatusInternalServerError && !x.probe {
		level = slog.LevelError
	}
	ctx := c.Context()
	s.audit(c, x, status)
	defer x.endSpan(c.Method(), status, err)
	if !s.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id),
		slog.String("method", c.Method()),
		slog.String("route", x.route),
		slog.String("path", c.Path()),
		slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes_in", x.body.read),
		slog.String("remote", s.addressOf(c).String()),
	}
	if x.key != "" {
		attrs = append(attrs, slog.String("key", x.key), slog.String("tenant", x.tenant))
	}
	if id := x.span.TraceID(); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	attrs = append(attrs, x.notes...)
	s.log.LogAttrs(ctx, level, "request", append(attrs, s.errorAttrs(err, status)...)...)
}

// endSpan says in the trace how the request ended. One that was refused did not fail here.
func (x *exchange) endSpan(method string, status int, err error) {
	if x.span.On() {
		x.span.Name(method + " " + x.route)
		x.span.Note("http.request.method", method)
		x.span.Note("http.route", x.route)
		x.span.Count("http.response.status_code", status)
		x.span.Note("hybridge.request_id", x.id)
	}
	if status < http.StatusInternalServerError {
		err = nil
	}
	x.span.End(err)
}

// RequestAttrs are what tells, in another line of the log, which request a context is of.
func RequestAttrs(ctx context.Context) []slog.Attr {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return []slog.Attr{slog.String("request_id", x.id)}
	}
	return nil
}

// audit writes who did what, when, and how it ended: of what needs a key, and of what was
// refused for lack of one. It has no texts: neither bodies nor queries, also of addresses.
func (s *Server) audit(c *fiber.Ctx, x *exchange, status int) {
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if s.options.Audit == nil || !x.restricted && !refused {
		return
	}
	outcome := "done"
	switch {
	case refused:
		outcome = "refused"
	case status >= http.StatusBadRequest:
		outcome = "failed"
	}
	s.options.Audit.LogAttrs(c.Context(), slog.LevelInfo, "audit",
		slog.String("key", x.key), slog.String("tenant", x.tenant), slog.String("remote", c.IP()),
		slog.String("method", c.Method()), slog.String("route", x.route), slog.String("path", c.Path()),
		slog.String("outcome", outcome), slog.Int("status", status), slog.String("request_id", x.id))
}

// errorAttrs logs failures of the gateway in full. Of mistakes of the caller it logs only kind
// and field, because the details repeat parts of the request, perhaps its query.
func (s *Server) errorAttrs(err error, status int) []slog.Attr {
	if err == nil {
		return nil
	}
	if status >= http.StatusInternalServerError || s.options.LogQueries {
		return []slog.Attr{slog.String("code", string(kindOf(err))), slog.String("error", err.Error())}
	}
	problem := problemOf(err)
	attrs := []slog.Attr{slog.String("code", problem.Code)}
	if problem.Field != "" {
		attrs = append(attrs, slog.String("field", problem.Field))
	}
	return attrs
}

// secure sets the security headers of every answer.
func (*Server) secure(c *fiber.Ctx) {
	headers := &c.Response().Header
	for _, h := range securityHeaders {
		headers.SetCanonical(h[0], h[1])
	}
}

var securityHeaders = [][2][]byte{
	{[]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff")},
	{[]byte(fiber.HeaderReferrerPolicy), []byte("no-referrer")},
	{[]byte(fiber.HeaderContentSecurityPolicy), []byte("default-src 'none'; frame-ancestors 'none'")},
	{[]byte(fiber.HeaderCacheControl), []byte("no-store")},
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

// refuseUnknownMethods answers unknown methods with a problem document; fiber would answer in
// plain text.
func (s *Server) refuseUnknownMethods() {
	next := s.app.Server().Handler
	known := map[string]bool{}
	for _, method := range s.app.Config().RequestMethods {
		known[method] = true
	}
	s.app.Server().Handler = func(ctx *fasthttp.RequestCtx) {
		if ctx.IsPost() || ctx.IsGet() || known[string(ctx.Method())] {
			next(ctx)
			return
		}
		c := s.app.AcquireCtx(ctx)
		defer s.app.ReleaseCtx(c)
		ctx.SetConnectionClose() // its body, if any, was not read
		s.secure(c)
		writeProblem(c, fault.New(notImplemented, "this is no HTTP method that is known here"))
		s.metrics.requests.WithLabelValues(unmatched, "", statusLabel(http.StatusNotImplemented)).Inc()
	}
}
