package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/engine"
)

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

// countDamage adds the damaged chunks of the engines to the metrics.
func (a *App) countDamage(metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hybridge_damaged_chunks", Help: "Stored chunks that are damaged and left out of searches.",
	}, func() float64 {
		total := 0
		for _, e := range a.engines {
			if d, ok := e.(interface{ Damaged() int }); ok {
				total += d.Damaged()
			}
		}
		return float64(total)
	}))
}

// troubles are those of all engines.
func (a *App) troubles() (all []engine.Trouble) {
	for _, e := range a.engines {
		if t, ok := e.(engine.Troubled); ok {
			all = append(all, t.Troubles()...)
		}
	}
	return all
}
