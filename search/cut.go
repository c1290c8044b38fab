package search

import "github.com/hybridge-search/hybridge/scoring"

// cut drops what is below the thresholds on the fused score, over all knowledge bases.
func (set *answerSet) cut(threshold *Threshold) {
	thresholds := scoring.Thresholds{Score: threshold.Score, Relative: threshold.Relative}
	passing, cuts := thresholds.Cut(set.entries)
	set.drop(cuts)
	// Chunks beyond those found rank below them: once one is cut, none of them passes.
	set.more = set.more && len(passing) == len(set.entries)
	set.entries = passing
}

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
