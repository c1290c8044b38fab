package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/lib/tracing"
)

// tracer adds a span for each round trip to PostgreSQL. It omits the SQL, although it is parameterised: it is
// long and the plan follows from the parent span.
type tracer struct{}

var (
	_ pgx.BatchTracer    = tracer{}
	_ pgx.CopyFromTracer = tracer{}
)

type spanKey struct{}

func begin(ctx context.Context, name string, statements int) context.Context {
	ctx, span := tracing.StartRequest(ctx, name)
	if !span.On() {
		return ctx
	}
	span.Note("db.system.name", "postgresql")
	span.Count("db.operation.batch.size", statements)
	return context.WithValue(ctx, spanKey{}, span)
}

func end(ctx context.Context, err error) {
	if span, ok := ctx.Value(spanKey{}).(tracing.Span); ok {
		span.End(faultOf(err, "asking PostgreSQL"))
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return begin(ctx, "postgres query", 1)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	end(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return begin(ctx, "postgres batch", data.Batch.Len())
}

// TraceBatchQuery implements pgx.BatchTracer.
func (tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	end(ctx, data.Err)
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return begin(ctx, "postgres copy", 1)
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (tracer) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	end(ctx, data.Err)
}
