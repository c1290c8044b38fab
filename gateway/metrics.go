package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/lib/labels"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// metrics count searches and what is written.
type metrics struct {
	degraded *prometheus.CounterVec
	ingested *prometheus.CounterVec

	searches        *prometheus.CounterVec
	searchDurations *prometheus.HistogramVec
	legNames        labels.Bounded // of degraded
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
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
			Buckets: endpoint.DurationBuckets,
		}, []string{"preset"}),
	}
	registry.MustRegister(m.degraded, m.ingested, m.searches, m.searchDurations)
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

// metricsRoutes adds the metrics. They need a key, if keys are configured, because they are
// of all tenants.
func (s *Server) metricsRoutes() {
	r := endpoint.Route{
		Method: http.MethodGet, Path: endpoint.MetricsPath, Tag: "operation", Access: endpoint.Reads, Role: keys.Operate,
		ID: "metrics", Summary: "Metrics in Prometheus' text format",
		About: "Requests, legs, engines, caches, jobs and the process, for a scraper. /guide/ has the " +
			"dashboard and the alerts.",
	}
	s.Document.AddOperation(s.Document.RawOperation(&r, "text/plain"))
	expose := adaptor.HTTPHandler(promhttp.HandlerFor(s.options.Registry, promhttp.HandlerOpts{}))
	s.Mount(&r, func(_ context.Context, _ access.Scope, c *fiber.Ctx) error { return expose(c) })
}
