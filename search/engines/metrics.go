package engines

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/lib/labels"
)

// Metrics count calls of engines and legs, their outcome and duration. Nil
// counts nothing.
type Metrics struct {
	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec

	legs         *prometheus.CounterVec
	legDurations *prometheus.HistogramVec
	legNames     labels.Bounded // bounded: vector fields are named by who creates a knowledge base
}

// durationBuckets are in seconds.
var durationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics registers the metrics; there are none without a registry.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	if registry == nil {
		return nil
	}
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_engine_requests_total",
			Help: "Questions of searches to engines, by how they ended: ok, or the kind of the error.",
		}, []string{"engine", "request", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_engine_request_duration_seconds", Help: "How long engines took for questions of searches.",
			Buckets: durationBuckets,
		}, []string{"engine", "request"}),
		legs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_legs_total", Help: "Legs of searches, by how they ended: ok, or the kind of the error.",
		}, []string{"engine", "leg", "outcome"}),
		legDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_leg_duration_seconds", Help: "How long legs took that were run.", Buckets: durationBuckets,
		}, []string{"engine", "leg"}),
	}
	registry.MustRegister(m.calls, m.durations, m.legs, m.legDurations)
	return m
}

// asked counts a question to an engine.
func (m *Metrics) asked(engine, request string, took time.Duration, err error) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(engine, request, labels.Outcome(err)).Inc()
	m.durations.WithLabelValues(engine, request).Observe(took.Seconds())
}

// Leg counts a leg of a search, and how long it took in milliseconds if it ran.
func (m *Metrics) Leg(engine, leg string, ran bool, took float64, err error) {
	name := m.legNames.Of(leg)
	m.legs.WithLabelValues(engine, name, labels.Outcome(err)).Inc()
	if ran {
		m.legDurations.WithLabelValues(engine, name).Observe(took / 1000)
	}
}
