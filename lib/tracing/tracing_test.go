package tracing

import (
	"context"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hybridge-search/hybridge/fault"
)

func TestNothingIsRecordedWithoutAProvider(t *testing.T) {
	ctx, root := Serve(t.Context(), nil, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "")
	within, span := Start(ctx, "step")
	header := http.Header{}
	Send(within, header)
	span.Note("key", "value")
	span.End(nil)
	root.End(nil)
	if within != t.Context() || root.On() || span.On() || len(header) > 0 || TraceIDOf(within) != "" {
		t.Errorf("something is recorded: %v, %v", within, header)
	}
	if n := testing.AllocsPerRun(100, func() {
		_, span := Start(ctx, "step")
		span.Note("key", "value")
		span.End(nil)
	}); n > 0 {
		t.Errorf("a span that nobody records takes %v allocations; want n 0", n)
	}
}

func TestAnErrorIsToldByItsKind(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	ctx, root := Serve(t.Context(), provider, "", "")
	life, end := context.WithCancel(context.Background())
	defer end()
	_, span := StartRequest(Within(ctx, life), "request")
	span.End(fault.Invalid("query", "my private question", "another"))
	root.End(nil)
	ended := recorder.Ended()
	if len(ended) != 2 || ended[0].Parent().SpanID() != ended[1].SpanContext().SpanID() {
		t.Fatalf("spans %v", ended)
	}
	if status := ended[0].Status(); status.Code != codes.Error || status.Description != "invalid_argument" {
		t.Errorf(`status %+v; want status.Code Error and status.Description "invalid_argument"`, status)
	}
	if events := ended[0].Events(); len(events) > 0 {
		t.Errorf("events %v, which may have texts; want len(events) 0", events)
	}
}

// BenchmarkOff is a span that nobody records, in a context as deep as those of searches.
func BenchmarkOff(b *testing.B) {
	ctx := context.WithValue(b.Context(), struct{ a int }{1}, 1)
	ctx, cancel := context.WithCancel(context.WithValue(ctx, struct{ a int }{2}, 2))
	defer cancel()
	for b.Loop() {
		_, span := Start(ctx, "step")
		span.End(nil)
	}
}
