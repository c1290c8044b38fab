package tiered

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(50)...)
	c := open(t, d)
	at(t, c, 1)
	at(t, c, 1)
	okapi := manuals
	okapi.Options.Fingerprint = "test/2"
	if _, err := c.At(t.Context(), okapi, 1); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"hybridge_bm25_lookups_total memory":                   1,
		"hybridge_bm25_lookups_total build":                    2,
		"hybridge_bm25_lookups_total database":                 0,
		"hybridge_bm25_events_total repair":                    0,
		"hybridge_bm25_index_bytes content acme/manuals":       float64(c.State(7)[0].Bytes),
		"hybridge_bm25_index_age_seconds content acme/manuals": values["hybridge_bm25_index_age_seconds content acme/manuals"],
	} {
		if got, there := values[name]; !there || got != want {
			t.Errorf("%s is %v (%v), wanted %v", name, got, there, want)
		}
	}
}
