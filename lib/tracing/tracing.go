// Package tracing is the spans of OpenTelemetry, for code that knows nothing of what becomes of
// them. Spans are begun where a request comes in (Serve); whatever is called with its context
// adds to them, and costs next to nothing where nobody records.
//
// A span says what was done and how it ended, never what it was done to: no text of a question
// or a chunk, and no detail of an error, which may repeat one.
package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hybridge-search/hybridge/fault"
)

const scope = "github.com/hybridge-search/hybridge"

// Span is something that takes time. The zero value records nothing; End it once.
type Span struct{ span trace.Span }

// Start begins a span within that of the context, if it is recorded.
func Start(ctx context.Context, name string) (context.Context, Span) {
	return start(ctx, name, trace.SpanKindInternal)
}

// StartRequest begins a span of a request to a server.
func StartRequest(ctx context.Context, name string) (context.Context, Span) {
	return start(ctx, name, trace.SpanKindClient)
}

func start(ctx context.Context, name string, kind trace.SpanKind) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, Span{span}
}

// Serve begins the span of a request that came with a header traceparent, or without one.
// Nothing is recorded without a provider.
func Serve(ctx context.Context, by trace.TracerProvider, traceparent, tracestate string) (context.Context, Span) {
	if by == nil {
		return ctx, Span{}
	}
	if traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
			"traceparent": traceparent, "tracestate": tracestate,
		})
	}
	ctx, span := by.Tracer(scope).Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

// Send adds the header traceparent to a request to another server, if the context has a span.
func Send(ctx context.Context, header http.Header) {
	if trace.SpanFromContext(ctx).SpanContext().IsValid() {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
	}
}

// Within gives a context that ends with life, whose spans are within that of ctx.
func Within(ctx, life context.Context) context.Context {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return trace.ContextWithSpan(life, span)
	}
	return life
}

// In gives a context whose spans are within this one.
func (s Span) In(ctx context.Context) context.Context {
	if s.span == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, s.span)
}

// On reports whether the span is recorded: whether it is worth working out what to note.
func (s Span) On() bool { return s.span != nil && s.span.IsRecording() }

// TraceID names the trace; empty where nothing is recorded.
func (s Span) TraceID() string {
	if !s.On() {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// TraceIDOf names the trace that a context belongs to; empty where nothing is recorded.
func TraceIDOf(ctx context.Context) string { return Span{trace.SpanFromContext(ctx)}.TraceID() }

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.On() {
		s.span.SetName(name)
	}
}

// Note adds a name or a word of a fixed set, never a text of a caller.
func (s Span) Note(key, value string) {
	if s.On() {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Count adds a number.
func (s Span) Count(key string, n int) {
	if s.On() {
		s.span.SetAttributes(attribute.Int(key, n))
	}
}

// Fail says that it ended badly, by a word of a fixed set.
func (s Span) Fail(kind string) {
	if s.On() {
		s.span.SetAttributes(attribute.String("error.type", kind))
		s.span.SetStatus(codes.Error, kind)
	}
}

// End ends the span. Of an error it has the kind alone.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.Fail(string(fault.KindOf(err)))
	}
	s.span.End()
}
