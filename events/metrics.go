package events

import "github.com/prometheus/client_golang/prometheus"

// Why something was dropped, as a label.
const (
	droppedQueue   = "queue"   // searches came faster than they are written
	droppedSpool   = "spool"   // the spool was full, or could not be written
	droppedRefused = "refused" // the store refused the item itself
)

type metrics struct {
	accepted, stored *prometheus.CounterVec
	dropped          *prometheus.CounterVec
	failures         prometheus.Counter
}

const (
	ofQueries = "query"
	ofEvents  = "event"
)

func newMetrics(registry prometheus.Registerer, s *spool) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		accepted: counter("hybridge_events_accepted_total",
			"Events of users, and searches, that are in the spool or stored.", "kind"),
		stored: counter("hybridge_events_stored_total",
			"Events of users, and searches, that were stored; repeated ones too.", "kind"),
		dropped: counter("hybridge_events_dropped_total",
			"Events of users, and searches, that there was no room for, or that the store refused.", "kind", "reason"),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hybridge_events_store_failures_total", Help: "Attempts to store what is in the spool that failed.",
		}),
	}
	for _, kind := range []string{ofQueries, ofEvents} { // rates need the first count
		m.accepted.WithLabelValues(kind)
		m.stored.WithLabelValues(kind)
		m.dropped.WithLabelValues(kind, droppedSpool)
	}
	if registry == nil {
		return m
	}
	gauge := func(name, help string, of func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, of)
	}
	registry.MustRegister(m.accepted, m.stored, m.dropped, m.failures,
		gauge("hybridge_events_spooled", "Events and searches in the spool.",
			func() float64 { return float64(s.items.Load()) }),
		gauge("hybridge_events_spool_bytes", "Bytes of the spool that are used.",
			func() float64 { return float64(s.bytes.Load()) }))
	return m
}
