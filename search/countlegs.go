package search

import (
	"github.com/hybridge-search/hybridge/search/engines"
)

// countLegs counts the legs of a retrieval that is over. One that had nothing to look for is ok and has no duration.
func countLegs(m *engines.Metrics, rt *retrieval) {
	if m == nil {
		return
	}
	engine := rt.Engine.Name()
	for i := range rt.legs {
		l := &rt.legs[i]
		m.Leg(engine, l.Name, l.ran, l.took, l.err)
	}
}
