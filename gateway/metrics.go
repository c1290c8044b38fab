package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/labels"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// unmatched is the route label of requests without a route. Their paths are up to the client
// and must not become labels.
const unmatched = "unmatched"

const metricsPath = "/metrics"

type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	degraded  *prometheus.CounterVec
	ingested  *prometheus.CounterVec

	searches        *prometheus.CounterVec
	searchDurations *prometheus.HistogramVec
	legNames        labels.Bounded // of degraded
}

var durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_http_request_duration_seconds", Help: "Time from the headers to the answer.",
			Buckets: durationBuckets,
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
		searches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_searches_total", Help: "Searches by how they ended: ok, degraded, or the code of the error.",
		}, []string{"preset", "outcome"}),
		searchDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_search_duration_seconds", Help: "How long searches took, kept answers too.",
			Buckets: durationBuckets,
		}, []string{"preset"}),
	}
	registry.MustRegister(m.requests, m.durations, m.inFlight, m.degraded, m.ingested, m.searches, m.searchDurations)
	return m
}

// searched counts a search.
func (m *metrics) searched(preset, outcome string, took time.Duration) {
	m.searches.WithLabelValues(preset, outcome).Inc()
	m.searchDurations.WithLabelValues(preset).Observe(took.Seconds())
}

// answered counts a search that has an answer.
func (s *Server) answered(r *search.Response, took time.Duration) {
	outcome := "ok"
	if len(r.Degraded) > 0 {
		outcome = "degraded"
	}
	s.metrics.searched(s.presetLabel(r.Preset), outcome, took)
}

// failed counts a search without an answer. The name of a preset that does not exist is up to the
// caller and must not become a label.
func (s *Server) failed(scope access.Scope, preset string, kind fault.Kind, took time.Duration) {
	names, standard := s.options.Searcher.Presets(scope.Tenant)
	if preset = cmp.Or(preset, standard); slices.Contains(names, preset) {
		preset = s.presetLabel(preset)
	} else {
		preset = "unknown"
	}
	s.metrics.searched(preset, string(kind), took)
}

// presetLabel is the label of a preset that there is. Those that tenants save have one together: their number is
// up to the tenants, and their names are nobody else's.
func (s *Server) presetLabel(preset string) string {
	if s.options.Presets == nil || preset == search.PresetEverything {
		return preset
	}
	if _, source := s.options.Presets.Given(preset); source != "" {
		return preset
	}
	return presets.FromSaved
}

func statusLabel(status int) string { return strconv.Itoa(status) }

// metricsRoutes adds the metrics. They need a key, if keys are configured, because they are
// of all tenants.
func (s *Server) metricsRoutes() {
	r := route{
		method: http.MethodGet, path: metricsPath, tag: "operation", access: reads, role: keys.Operate,
		id: "metrics", summary: "Metrics in Prometheus' text format",
		about: "Requests, legs, engines, caches, jobs and the process, for a scraper. /guide/ has the " +
			"dashboard and the alerts.",
	}
	s.openapi.AddOperation(s.rawOperation(&r, "text/plain"))
	expose := adaptor.HTTPHandler(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	s.mount(&r, func(_ context.Context, _ access.Scope, c *fiber.Ctx) error { return expose(c) })
}
