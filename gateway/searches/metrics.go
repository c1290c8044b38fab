package searches

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/lib/labels"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// metrics count searches and writes.
type metrics struct {
	degraded *prometheus.CounterVec

	searches        *prometheus.CounterVec
	searchDurations *prometheus.HistogramVec
	legNames        labels.Bounded // of degraded
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		degraded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_search_degraded_legs_total", Help: "Legs that took no part in a search.",
		}, []string{"leg"}),
		searches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_searches_total", Help: "Searches by how they ended: ok, degraded, or the code of the error.",
		}, []string{"preset", "outcome"}),
		searchDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_search_duration_seconds", Help: "How long searches took, kept answers too.",
			Buckets: endpoint.DurationBuckets,
		}, []string{"preset"}),
	}
	registry.MustRegister(m.degraded, m.searches, m.searchDurations)
	return m
}

// searched counts a search.
func (m *metrics) searched(preset, outcome string, took time.Duration) {
	m.searches.WithLabelValues(preset, outcome).Inc()
	m.searchDurations.WithLabelValues(preset).Observe(took.Seconds())
}

// answered counts a search that has an answer.
func (s *Searches) answered(r *search.Response, took time.Duration) {
	outcome := "ok"
	if len(r.Degraded) > 0 {
		outcome = "degraded"
	}
	s.metrics.searched(s.presetLabel(r.Preset), outcome, took)
}

// failed counts a search without an answer. The name of a preset that does not exist is up to the
// caller and must not become a label.
func (s *Searches) failed(scope access.Scope, preset string, kind fault.Kind, took time.Duration) {
	names, standard := s.Presets(scope.Tenant)
	if preset = cmp.Or(preset, standard); slices.Contains(names, preset) {
		preset = s.presetLabel(preset)
	} else {
		preset = "unknown"
	}
	s.metrics.searched(preset, string(kind), took)
}

// presetLabel is the label of an existing preset. All presets saved by tenants share one: tenants decide
// their number, and their names are private.
func (s *Searches) presetLabel(preset string) string {
	if s.saved == nil || preset == search.PresetEverything {
		return preset
	}
	if _, source := s.saved.Given(preset); source != "" {
		return preset
	}
	return presets.FromSaved
}
