package recall

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/lib/labels"
)

// metrics tell the last measurement of each engine and field, whatever knowledge base it was of. Nil tells nothing.
type metrics struct {
	recall *prometheus.GaugeVec
	fields labels.Bounded // bounded: vector fields are named by who creates a knowledge base
}

func newMetrics(registry prometheus.Registerer) *metrics {
	if registry == nil {
		return nil
	}
	m := &metrics{recall: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hybridge_recall", Help: "Recall of a vector field beside the exact answer, as last measured.",
	}, []string{"engine", "field"})}
	registry.MustRegister(m.recall)
	return m
}

func (m *metrics) measured(r *Report) {
	if m == nil {
		return
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		m.recall.WithLabelValues(r.Engine, m.fields.Of(f.Field)).Set(f.Recall.Mean)
	}
}
