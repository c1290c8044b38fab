package search

import (
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// cut drops what is below the thresholds on the fused score, over all knowledge bases.
func (set *answerSet) cut(threshold *plan.Threshold) {
	thresholds, short := scoring.Thresholds{Score: threshold.Score, Relative: threshold.Relative}, false
	thresholds.Spares = func(entry *scoring.Fused) bool {
		short = true
		return set.isPinned(entry)
	}
	passing, cuts := thresholds.Cut(set.entries)
	set.drop(cuts)
	// Chunks beyond those found rank below them: once one falls short, none of them passes.
	set.more = set.more && (!short || set.boosts != nil && set.boostedMore(passing))
	set.entries = passing
}

// cutByRelevance drops what is not relevant enough, and everything where the answer as a
// whole is not. Chunks of which nothing is known stay where nothing is known of any other.
func (set *answerSet) cutByRelevance(threshold *plan.Threshold) {
	if least := threshold.Answerable; least != nil {
		if known := set.calibrated.Answerable(); known != nil && *known < *least {
			pinned := slices.DeleteFunc(slices.Clone(set.entries), func(e scoring.Fused) bool { return !set.isPinned(&e) })
			set.dropped[answerableThreshold] += len(set.entries) - len(pinned)
			set.entries, set.more = pinned, false
		}
	}
	if least := threshold.Relevance; least != nil && *least > 0 {
		kept := make([]scoring.Fused, 0, len(set.entries))
		for i := range set.entries {
			entry := &set.entries[i]
			if set.isPinned(entry) || set.from(entry).IsRelevant(set.calibrated.Of(int(entry.Source), int(entry.Index)-set.from(entry).Offset), *least) {
				kept = append(kept, set.entries[i])
			}
		}
		if n := len(set.entries) - len(kept); n > 0 {
			set.dropped[relevanceThreshold] += n
		}
		set.entries = kept
	}
}

// Names of the thresholds on relevance, beside those of scoring.
const (
	answerableThreshold = "answerable"
	relevanceThreshold  = "relevance"
)

// drop counts hits that thresholds dropped.
func (set *answerSet) drop(cuts []scoring.Cut) {
	for _, c := range cuts {
		set.dropped[c.Threshold] += c.Count
	}
}

// truncate keeps the best candidates.
func (set *answerSet) truncate(candidates int) {
	if len(set.entries) > candidates {
		set.entries, set.more = set.entries[:candidates], true
	}
}
