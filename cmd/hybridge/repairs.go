package main

import "github.com/prometheus/client_golang/prometheus"

// repairer is an engine that repairs damage to what it has stored.
type repairer interface{ Repairs() int }

// countRepairs adds the repairs of the engines to the metrics.
func (a *App) countRepairs(metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "hybridge_index_repairs_total", Help: "Stored BM25 indexes that were damaged and rebuilt from the chunks.",
	}, func() float64 {
		total := 0
		for _, e := range a.engines {
			if r, ok := e.(repairer); ok {
				total += r.Repairs()
			}
		}
		return float64(total)
	}))
}
