package retrieve

import (
	"github.com/hybridge-search/hybridge/search/engines"
)

// CountLegs counts the legs of a retrieval that is over. One that had nothing to look for is ok and has no duration.
func CountLegs(m *engines.Metrics, rt *Retrieval) {
	if m == nil {
		return
	}
	engine := rt.Engine.Name()
	for i := range rt.Legs {
		l := &rt.Legs[i]
		m.Leg(engine, l.Name, l.ran, l.took, l.err)
	}
}
