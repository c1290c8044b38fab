package resultcache

import "github.com/prometheus/client_golang/prometheus"

// Where an answer came from.
const (
	fromMemory = "memory"   // in memory
	fromRedis  = "redis"    // in Redis
	fromFlight = "shared"   // computed for another request at the same time
	computed   = "computed" // computed for this request
	passedBy   = "passed"   // computed and not cached: cache false, explain, or no generation
)

type metrics struct {
	requests *prometheus.CounterVec
	failures prometheus.Counter
}

// newMetrics makes the metrics, and registers them unless the registry is nil.
func newMetrics(registry prometheus.Registerer, bytes func() float64) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hybridge_result_cache_requests_total", Help: "Searches by where their answers came from.",
		}, []string{"from"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hybridge_result_cache_redis_failures_total", Help: "Commands to Redis that failed or took too long.",
		}),
	}
	for _, from := range []string{fromMemory, fromRedis, fromFlight, computed, passedBy} {
		m.requests.WithLabelValues(from) // shown as 0 from the start
	}
	if registry != nil {
		size := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hybridge_result_cache_bytes", Help: "Answers kept in memory.",
		}, bytes)
		registry.MustRegister(m.requests, m.failures, size)
	}
	return m
}

func (m *metrics) count(from string) { m.requests.WithLabelValues(from).Inc() }
