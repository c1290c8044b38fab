package endpoint

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// unmatched is the route label of requests without a route. Their paths are up to the client
// and must not become labels.
const unmatched = "unmatched"

// MetricsPath is where metrics are read, which has no traces.
const MetricsPath = "/metrics"

// requestMetrics count all requests.
type requestMetrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
}

// DurationBuckets are the buckets of all histograms of time, in seconds.
var DurationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

func newRequestMetrics(registry *prometheus.Registry) *requestMetrics {
	m := &requestMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hybridge_http_request_duration_seconds", Help: "Time from the headers to the answer.",
			Buckets: DurationBuckets,
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hybridge_http_requests_in_flight", Help: "Requests being answered.",
		}),
	}
	registry.MustRegister(m.requests, m.durations, m.inFlight)
	return m
}

func statusLabel(status int) string { return strconv.Itoa(status) }
