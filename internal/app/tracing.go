package app

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
)

// newTracing returns nil where no collector is configured. It connects when there is something
// to send; an unavailable collector costs traces and a line in the log.
func newTracing(
	ctx context.Context, c *config.Tracing, version string, log *slog.Logger,
) (*trace.TracerProvider, error) {
	if c.URL == "" {
		return nil, nil //nolint:nilnil // there are no traces, which is fine
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(tracesURL(c.URL)))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "tracing.url is not accepted")
	}
	// What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes last, and wins.
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "hybridge"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read OTEL_RESOURCE_ATTRIBUTES")
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("traces were not sent", "error", err)
	}))
	return trace.NewTracerProvider(
		trace.WithBatcher(exporter), trace.WithResource(about),
		trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(c.Sample))),
	), nil
}

// tracesURL returns the URL at which a collector takes traces.
func tracesURL(base string) string {
	u, err := url.Parse(base)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
		return u.String()
	}
	return base
}

// lastTraces limits the time that shutdown waits for the collector.
const lastTraces = 2 * time.Second

// closeTracing sends the remaining traces.
func closeTracing(tracing *trace.TracerProvider, log *slog.Logger) {
	if tracing == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
	defer cancel()
	if err := tracing.Shutdown(ctx); err != nil {
		log.Warn("the last traces were not sent", "error", err)
	}
}
