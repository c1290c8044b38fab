package gateway

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
)

// unmatched is the route label of requests without a route. Their paths are up to the client
// and must not become labels.
const unmatched = "unmatched"

type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	degraded  *prometheus.CounterVec
	ingested  *prometheus.CounterVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_http_request_duration_seconds", Help: "Time from the headers to the answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120},
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hybridge_http_requests_in_flight", Help: "Requests being answered.",
		}),
		degraded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_search_degraded_legs_total", Help: "Legs that took no part in a search.",
		}, []string{"leg"}),
		ingested: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_ingested_chunks_total", Help: "Chunks written or refused, by what became of them.",
		}, []string{"status"}),
	}
	registry.MustRegister(m.requests, m.durations, m.inFlight, m.degraded, m.ingested)
	return m
}

func statusLabel(status int) string { return strconv.Itoa(status) }

// metricsRoutes adds the metrics. They need a key, if keys are configured, because they are
// of all tenants.
func (s *Server) metricsRoutes() {
	r := route{
		method: http.MethodGet, path: "/metrics", tag: "operation", access: reads, role: keys.Operate,
		id: "metrics", summary: "Metrics in Prometheus' text format",
	}
	s.openapi.AddOperation(s.rawOperation(&r, "text/plain"))
	expose := adaptor.HTTPHandler(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	s.mount(&r, func(_ context.Context, _ access.Scope, c *fiber.Ctx) error { return expose(c) })
}
