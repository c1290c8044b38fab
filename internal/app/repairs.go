package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/engine"
)

// repairer is an engine that repairs damage to its data.
type repairer interface{ Repairs() int }

// measure adds repairs, damage and the keyword indexes to the metrics.
func (s *storage) measure(metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "hybridge_index_repairs_total", Help: "Stored BM25 indexes that were damaged and rebuilt from the chunks.",
	}, func() float64 {
		total := 0
		for _, e := range s.engines {
			if r, ok := e.(repairer); ok {
				total += r.Repairs()
			}
		}
		return float64(total)
	}))
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hybridge_damaged_chunks", Help: "Stored chunks that are damaged and left out of searches.",
	}, func() float64 {
		total := 0
		for _, e := range s.engines {
			if d, ok := e.(interface{ Damaged() int }); ok {
				total += d.Damaged()
			}
		}
		return float64(total)
	}))
	if s.keywords != nil {
		metrics.MustRegister(s.keywords)
	}
}

// troubles collects the troubles of all engines.
func (s *storage) troubles() (all []engine.Trouble) {
	for _, e := range s.engines {
		if t, ok := e.(engine.Troubled); ok {
			all = append(all, t.Troubles()...)
		}
	}
	return all
}
