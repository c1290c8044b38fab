package tiered

import "github.com/prometheus/client_golang/prometheus"

// Metrics of a Cache. Indexes in memory are bounded by L1, and so is the number
// of series.
var (
	lookups = prometheus.NewDesc("hybridge_bm25_lookups_total",
		"Keyword indexes found, by tier; builds found none.", []string{"tier"}, nil)
	events = prometheus.NewDesc("hybridge_bm25_events_total",
		"Keyword indexes caught up by the log, stored, repaired, given up for room.", []string{"event"}, nil)
	redisErrors = prometheus.NewDesc("hybridge_bm25_redis_errors_total",
		"Commands of the second tier that failed or took too long.", nil, nil)
	indexBytes = prometheus.NewDesc("hybridge_bm25_index_bytes",
		"Memory of a keyword index in the first tier.", []string{"knowledge_base", "field"}, nil)
	indexAge = prometheus.NewDesc("hybridge_bm25_index_age_seconds",
		"Time since a keyword index was loaded or built.", []string{"knowledge_base", "field"}, nil)
)

// Describe implements prometheus.Collector.
func (c *Cache) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lookups, events, redisErrors, indexBytes, indexAge} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Cache) Collect(out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	t, _ := c.Totals()
	count(lookups, t.Memory, "memory")
	count(lookups, t.Redis, "redis")
	count(lookups, t.Store, "database")
	count(lookups, t.Builds, "build")
	count(events, t.CatchUps, "catch_up")
	count(events, t.Saves, "save")
	count(events, t.Repairs, "repair")
	count(events, t.Evictions, "eviction")
	if c.opts.Redis != nil {
		count(redisErrors, c.opts.Redis.Errors())
	}
	seen := map[[2]string]bool{} // the same field with other options is told once
	for _, s := range c.memory.states(func(Index) bool { return true }) {
		series := [2]string{s.Index.Name, s.Index.Field}
		if !s.Loaded || seen[series] {
			continue
		}
		seen[series] = true
		out <- prometheus.MustNewConstMetric(indexBytes, prometheus.GaugeValue, float64(s.Bytes), series[:]...)
		out <- prometheus.MustNewConstMetric(indexAge, prometheus.GaugeValue, s.Age.Seconds(), series[:]...)
	}
}
