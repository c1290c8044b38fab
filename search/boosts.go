package search

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
)

// boost lowers the scores of knowledge bases that the request boosts less than others, and
// ranks anew. Only the ratio of boosts counts: where all are the same, nothing changes.
func (set *answerSet) boost(r *run) {
	boosts := r.BaseBoosts()
	if boosts == nil {
		return
	}
	set.boosts = boosts
	set.entries = r.Plan.Fusion.Boost(set.entries, boosts)
	for i := range set.retrievals { // explanations look for a chunk there
		rt := &set.retrievals[i]
		ranking := slices.Clone(rt.Ranking)
		for j := range ranking {
			ranking[j].Source = rt.Source
		}
		rt.Ranking = r.Plan.Fusion.Boost(ranking, boosts)
	}
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
		if set.retrievals[i].Full && cut[i] == 0 {
			return true
		}
	}
	return false
}
