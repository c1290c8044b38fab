package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/labels"
)

// writeMetrics count writes to engines, their outcome and duration.
type writeMetrics struct {
	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

func newWriteMetrics(registry prometheus.Registerer) *writeMetrics {
	m := &writeMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_engine_writes_total",
			Help: "Writes to engines, by how they ended: ok, or the kind of the error.",
		}, []string{"engine", "operation", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_engine_write_duration_seconds", Help: "How long engines took for writes.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 100},
		}, []string{"engine", "operation"}),
	}
	registry.MustRegister(m.calls, m.durations)
	return m
}

// of counts the writes to an engine.
func (m *writeMetrics) of(name string) engine.WriteObserver {
	return func(operation string, took time.Duration, err error) {
		m.calls.WithLabelValues(name, operation, labels.Outcome(err)).Inc()
		m.durations.WithLabelValues(name, operation).Observe(took.Seconds())
	}
}
