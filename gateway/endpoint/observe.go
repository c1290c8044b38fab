package endpoint

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// observer answers errors, counts, logs and audits all requests.
type observer struct {
	metrics    *requestMetrics
	log        *slog.Logger
	logQueries bool
	audit      *slog.Logger // nil: nothing is audited
	tracing    trace.TracerProvider
	proxies    proxies
	base       context.Context // parent of every request's context
}

// observe wraps every request: it assigns an id, answers errors, counts and logs.
func (o *observer) observe(c *fiber.Ctx) error {
	x := &Exchange{
		ID:    requestID(c.Get(fiber.HeaderXRequestID)),
		Start: time.Now(),
		Route: unmatched,
		Body:  newRequestBody(c),
	}
	x.probe = slices.Contains(probes, c.Path())
	if !x.probe && c.Path() != MetricsPath {
		_, x.span = tracing.Serve(o.base, o.tracing, c.Get("traceparent"), c.Get("tracestate"))
	}
	c.Locals(exchangeKey{}, x)
	c.Set(fiber.HeaderXRequestID, x.ID)
	secure(c)
	o.metrics.inFlight.Inc()
	defer o.metrics.inFlight.Dec()

	err := recovered(c.Next)
	if err != nil {
		err = fromFiber(err)
		o.refuse(c, x, err)
	}
	if !x.Body.drain() {
		c.Context().SetConnectionClose()
	}
	o.record(c, x, err)
	return nil
}

// clientLeft is the status in metrics of a request whose client disconnected, as in other servers.
const clientLeft = 499

// record counts and logs a request.
func (o *observer) record(c *fiber.Ctx, x *Exchange, err error) {
	took := time.Since(x.Start)
	status := c.Response().StatusCode()
	counted := status
	if x.left.Load() {
		counted = clientLeft
	}
	o.metrics.requests.WithLabelValues(x.Route, c.Method(), statusLabel(counted)).Inc()
	o.metrics.durations.WithLabelValues(x.Route, c.Method()).Observe(took.Seconds())

	level := slog.LevelInfo
	if x.left.Load() {
		x.notes = append(x.notes, slog.Bool("client_left", true))
	} else if status >= http.StatusInternalServerError && !x.probe {
		level = slog.LevelError
	}
	ctx := c.Context()
	o.noteAudit(c, x, status)
	defer x.endSpan(c.Method(), status, err)
	if !o.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.ID),
		slog.String("method", c.Method()),
		slog.String("route", x.Route),
		slog.String("path", c.Path()),
		slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes_in", x.Body.read),
		slog.String("remote", o.proxies.addressOf(c).String()),
	}
	if x.Key != "" {
		attrs = append(attrs, slog.String("key", x.Key), slog.String("tenant", x.tenant))
	}
	if id := x.span.TraceID(); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	attrs = append(attrs, x.notes...)
	o.log.LogAttrs(ctx, level, "request", append(attrs, o.errorAttrs(err, status)...)...)
}

// noteAudit logs who did what, when, and how it ended: for requests that need a key, and for requests
// refused for lack of one. It has no texts: neither bodies nor queries, also of addresses.
func (o *observer) noteAudit(c *fiber.Ctx, x *Exchange, status int) {
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if o.audit == nil || !x.restricted && !refused {
		return
	}
	outcome := "done"
	switch {
	case refused:
		outcome = "refused"
	case status >= http.StatusBadRequest:
		outcome = "failed"
	}
	o.audit.LogAttrs(c.Context(), slog.LevelInfo, "audit",
		slog.String("key", x.Key), slog.String("tenant", x.tenant), slog.String("remote", c.IP()),
		slog.String("method", c.Method()), slog.String("route", x.Route), slog.String("path", c.Path()),
		slog.String("outcome", outcome), slog.Int("status", status), slog.String("request_id", x.ID))
}

// errorAttrs logs failures of the gateway in full. Of mistakes of the caller it logs only kind
// and field, because the details repeat parts of the request, perhaps its query.
func (o *observer) errorAttrs(err error, status int) []slog.Attr {
	if err == nil {
		return nil
	}
	if status >= http.StatusInternalServerError || o.logQueries {
		return []slog.Attr{slog.String("code", string(KindOf(err))), slog.String("error", err.Error())}
	}
	problem := ProblemOf(err)
	attrs := []slog.Attr{slog.String("code", problem.Code)}
	if problem.Field != "" {
		attrs = append(attrs, slog.String("field", problem.Field))
	}
	return attrs
}

// secure sets the security headers of every answer.
func secure(c *fiber.Ctx) {
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

// refuseUnknownMethods answers unknown methods with a problem document; fiber would answer in
// plain text.
func (o *observer) refuseUnknownMethods(app *fiber.App) {
	next := app.Server().Handler
	known := map[string]bool{}
	for _, method := range app.Config().RequestMethods {
		known[method] = true
	}
	app.Server().Handler = func(ctx *fasthttp.RequestCtx) {
		if ctx.IsPost() || ctx.IsGet() || known[string(ctx.Method())] {
			next(ctx)
			return
		}
		c := app.AcquireCtx(ctx)
		defer app.ReleaseCtx(c)
		ctx.SetConnectionClose() // its body, if any, was not read
		secure(c)
		writeProblem(c, fault.New(notImplemented, "this is no HTTP method that is known here"))
		o.metrics.requests.WithLabelValues(unmatched, "", statusLabel(http.StatusNotImplemented)).Inc()
	}
}

// refuse makes the answer an error, in the form of the route's dialect.
func (*observer) refuse(c *fiber.Ctx, x *Exchange, err error) {
	problem := writeProblem(c, err)
	if x.dialect == nil {
		return
	}
	c.Response().ResetBody()
	problem.Detail = LanguageOf(c).Text(problem.Detail)
	status, body := x.dialect.Refusal(c, problem)
	if failure := WriteJSON(c, status, body); failure != nil {
		c.Status(http.StatusInternalServerError)
	}
}

// refused answers requests that fail before, or outside of, every handler.
func (o *observer) refused(c *fiber.Ctx, err error) error {
	secure(c)
	problem := writeProblem(c, fromFiber(err))
	o.metrics.requests.WithLabelValues(unmatched, "", statusLabel(problem.Status)).Inc()
	return nil
}
