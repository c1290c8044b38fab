package search

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
)

// fuse ranks the hits of a knowledge base and applies the thresholds on legs.
func (rt *retrieval) fuse() {
	legs := rt.scoringLegs()
	thresholds, ranked := rt.legThresholds().Applicable(legs), rt.fused(legs)
	rt.choosePins(ranked)
	thresholds.Spares = func(f *scoring.Fused) bool {
		if rt.pinned[f.ID()] == "" {
			return false
		}
		rt.spared++
		return true
	}
	rt.ranking, rt.cuts = thresholds.Cut(ranked)
}

// fused ranks all hits.
func (rt *retrieval) fused(legs []scoring.Leg) []scoring.Fused {
	if rt.pool != nil && rt.pool.ranked != nil {
		return of(rt.pool.ranked, rt.source)
	}
	candidates := make([]scoring.Candidate, len(rt.Hits))
	for i := range rt.Hits {
		candidates[i] = rt.Hits[i].Candidate
	}
	return rt.Plan.Fusion.Fuse(legs, candidates)
}

// scoringLegs are the legs as fusion takes them.
func (rt *retrieval) scoringLegs() []scoring.Leg {
	legs := make([]scoring.Leg, len(rt.legs))
	for i := range rt.legs {
		legs[i] = rt.legs[i].scoring()
	}
	return legs
}

// legThresholds are the absolute ones on the legs' raw scores. Those for text and
// vector are not for secondary fields: a passage is not cut for its title.
func (rt *retrieval) legThresholds() scoring.Thresholds {
	var thresholds scoring.Thresholds
	for i := range rt.legs {
		var minimum *float64
		switch rt.legs[i].Kind {
		case scoring.Text:
			minimum = rt.Plan.Threshold.Text
		case scoring.Vector:
			minimum = rt.Plan.Threshold.Vector
		case scoring.Signal:
		}
		if minimum != nil && !rt.isSecondary(&rt.legs[i]) {
			thresholds.Legs = append(thresholds.Legs, scoring.LegThreshold{Index: i, Min: *minimum})
		}
	}
	return thresholds
}

// isSecondary reports whether another leg is named as the kind of this one. Not every
// chunk needs to have the field of a secondary leg.
func (rt *retrieval) isSecondary(l *leg) bool {
	kind := string(l.Kind)
	return l.Name != kind && slices.ContainsFunc(rt.legs, func(other leg) bool { return other.Name == kind })
}

// fuse makes one answer set of what the knowledge bases found.
func fuse(r *run, retrievals []retrieval) *answerSet {
	set := &answerSet{retrievals: retrievals, dropped: map[string]int{}, degraded: []answer.Degraded{}}
	rankings := set.rankings()
	for i := range retrievals {
		set.collect(&retrievals[i])
	}
	merged, basis := r.Plan.Fusion.Merge(rankings...)
	set.entries = merged
	switch {
	case len(rankings) > 1:
		set.mergedBy = string(basis)
	case len(retrievals) > 1:
		set.mergedBy = mergedPooled
	}
	return set
}

// rankings are one of each pool, and one of each knowledge base that is in none.
func (set *answerSet) rankings() []scoring.Ranking {
	var all []scoring.Ranking
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		switch p := rt.pool; {
		case p == nil && rt.Err != nil: // it has none
		case p == nil:
			for j := range rt.ranking {
				rt.ranking[j].Source = rt.source
			}
			all = append(all, scoring.Ranking{Legs: rt.scoringLegs(), Fused: rt.ranking})
		case p.members[0] == rt:
			p.fuse()
			set.drop(p.cuts)
			all = append(all, scoring.Ranking{Legs: p.scoringLegs(), Fused: p.kept})
		}
	}
	return all
}

// collect takes over what a retrieval tells beside its hits.
func (set *answerSet) collect(rt *retrieval) {
	set.more = set.more || rt.full
	set.degraded = append(set.degraded, rt.degraded...)
	set.drop(rt.cuts)
	if rt.relaxed != "" {
		set.relaxed = &rt.relaxed
	}
	if set.known == nil {
		set.known = rt.known
	}
}
