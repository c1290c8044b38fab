package rank

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
)

// Boost lowers the scores of knowledge bases that the request boosts less than others, and
// ranks anew. Only the ratio of boosts counts: where all are the same, nothing changes.
func (set *Ranked) Boost(fusion *scoring.Fusion, boosts []float64) {
	if boosts == nil {
		return
	}
	set.Boosts = boosts
	set.Entries = fusion.Boost(set.Entries, boosts)
	for _, base := range set.Bases { // explanations look for a chunk here
		ranking := slices.Clone(base.Ranking)
		for j := range ranking {
			ranking[j].Source = base.Source
		}
		base.Ranking = fusion.Boost(ranking, boosts)
	}
}

// boostedMore reports whether chunks beyond the hits may pass the thresholds too: of a knowledge
// base that stopped at its limit and had nothing cut.
func (set *Ranked) boostedMore(passing []scoring.Fused) bool {
	cut := make([]int, len(set.Bases))
	for i := range set.Entries {
		cut[set.Entries[i].Source]++
	}
	for i := range passing {
		cut[passing[i].Source]--
	}
	for i := range cut {
		if set.Bases[i].Full && cut[i] == 0 {
			return true
		}
	}
	return false
}

// IsPinned reports whether a rule pins an entry: thresholds do not cut it.
func (set *Ranked) IsPinned(entry *scoring.Fused) bool {
	return set.base(entry).PinnedBy[entry.ID()] != ""
}

// InFront is how many entries are pinned: the first ones, once pin has put them there.
func (set *Ranked) InFront() int {
	n := 0
	for n < len(set.Entries) && set.IsPinned(&set.Entries[n]) {
		n++
	}
	return n
}

// MaxScore is the score of the first entry, or of a higher one that rules pin before it.
func (set *Ranked) MaxScore() float64 {
	most := 0.0
	for i := range set.Entries[:min(set.InFront()+1, len(set.Entries))] {
		most = max(most, set.Entries[i].Score)
	}
	return most
}
