package retrieve

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
)

// fuse ranks the hits of a knowledge base and applies the thresholds on legs.
func (rt *Retrieval) fuse() {
	legs := rt.ScoringLegs()
	thresholds, ranked := rt.LegThresholds().Applicable(legs), rt.Fused(legs)
	rt.ChoosePins(ranked)
	thresholds.Spares = func(f *scoring.Fused) bool {
		if rt.PinnedBy[f.ID()] == "" {
			return false
		}
		rt.spared++
		return true
	}
	rt.Ranking, rt.Cuts = thresholds.Cut(ranked)
}

// Fused ranks all hits.
func (rt *Retrieval) Fused(legs []scoring.Leg) []scoring.Fused {
	if rt.Pool != nil && rt.Pool.ranked != nil {
		return of(rt.Pool.ranked, rt.Source)
	}
	candidates := make([]scoring.Candidate, len(rt.Hits))
	for i := range rt.Hits {
		candidates[i] = rt.Hits[i].Candidate
	}
	return rt.Plan.Fusion.Fuse(legs, candidates)
}

// ScoringLegs converts the legs for the fusion.
func (rt *Retrieval) ScoringLegs() []scoring.Leg {
	legs := make([]scoring.Leg, len(rt.Legs))
	for i := range rt.Legs {
		legs[i] = rt.Legs[i].scoring()
	}
	return legs
}

// LegThresholds are the absolute thresholds on the legs' raw scores. Those for text and
// vector skip secondary fields: a passage is not cut for its title.
func (rt *Retrieval) LegThresholds() scoring.Thresholds {
	var thresholds scoring.Thresholds
	for i := range rt.Legs {
		var minimum *float64
		switch rt.Legs[i].Kind {
		case scoring.Text:
			minimum = rt.Plan.Threshold.Text
		case scoring.Vector:
			minimum = rt.Plan.Threshold.Vector
		case scoring.Signal:
		}
		if minimum != nil && !rt.isSecondary(&rt.Legs[i]) {
			thresholds.Legs = append(thresholds.Legs, scoring.LegThreshold{Index: i, Min: *minimum})
		}
	}
	return thresholds
}

// isSecondary reports whether another leg is named as the kind of this one. A chunk may
// lack the field of a secondary leg.
func (rt *Retrieval) isSecondary(l *leg) bool {
	kind := string(l.Kind)
	return l.Name != kind && slices.ContainsFunc(rt.Legs, func(other leg) bool { return other.Name == kind })
}
