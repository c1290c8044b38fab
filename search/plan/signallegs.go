package plan

import (
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// Leg is the signal as a leg of a plan.
func (s *Signal) Leg() Leg {
	signal, err := s.of("")
	if err != nil { // validated before
		return Leg{}
	}
	return Leg{Name: s.name(), Kind: scoring.Signal, Field: signal.Field, Weight: s.Weight, Signal: s}
}

// AsOf is the moment that a plan's recencies are of: rounded down, so that an answer can be
// kept, and its pages are of one ranking, for a 256th of the half-life.
func (p *Plan) AsOf(now time.Time) {
	for i := range p.Legs {
		s := p.Legs[i].Signal
		if s == nil || s.Recency == nil {
			continue
		}
		if half, err := parseAge("", s.Recency.HalfLife, time.Second); err == nil {
			moment := now.UTC().Truncate(max(time.Second, (half / 256).Truncate(time.Second)))
			p.Legs[i].AsOf = &moment
		}
	}
}

// EngineSignal is what a leg asks of the engine, nil where it is none.
func (l *Leg) EngineSignal() *engine.Signal {
	if l.Signal == nil {
		return nil
	}
	signal, err := l.Signal.of("")
	if err != nil { // validated before
		return nil
	}
	if signal.Recency != nil && l.AsOf != nil {
		signal.Recency.Now = *l.AsOf
	}
	return &signal
}
