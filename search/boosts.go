package search

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// boost lowers the scores of knowledge bases that the request boosts less than others, and
// ranks anew. Only the ratio of boosts counts: where all are the same, nothing changes.
func (set *answerSet) boost(r *run) {
	boosts := r.boosts()
	if boosts == nil {
		return
	}
	set.boosts = boosts
	set.entries = r.plan.Fusion.Boost(set.entries, boosts)
	for i := range set.retrievals { // explanations look for a chunk there
		rt := &set.retrievals[i]
		ranking := slices.Clone(rt.ranking)
		for j := range ranking {
			ranking[j].Source = rt.source
		}
		rt.ranking = r.plan.Fusion.Boost(ranking, boosts)
	}
}

// boosts are those of the subjects over the largest of the request; nil where all are equal.
func (r *run) boosts() []float64 {
	if len(r.req.Boosts) == 0 {
		return nil
	}
	of := func(id string) float64 {
		if b, named := r.req.Boosts[id]; named {
			return b
		}
		return 1
	}
	largest, smallest := 0.0, float64(plan.MaxBoost)
	for _, id := range r.req.KnowledgeBases {
		largest, smallest = max(largest, of(id)), min(smallest, of(id))
	}
	if largest == smallest {
		return nil
	}
	boosts := make([]float64, len(r.subjects))
	for i := range r.subjects {
		boosts[i] = of(r.subjects[i].KB.ID) / largest
	}
	return boosts
}

// boostedMore reports whether chunks beyond those found may pass the thresholds that left
// these: those of a knowledge base that stopped at its limit and of which nothing was cut.
func (set *answerSet) boostedMore(passing []scoring.Fused) bool {
	cut := make([]int, len(set.retrievals))
	for i := range set.entries {
		cut[set.entries[i].Source]++
	}
	for i := range passing {
		cut[passing[i].Source]--
	}
	for i := range cut {
		if set.retrievals[i].full && cut[i] == 0 {
			return true
		}
	}
	return false
}
