package rank

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Cut drops entries below the thresholds on the fused score, over all knowledge bases.
func (set *Ranked) Cut(threshold *plan.Threshold) {
	thresholds, short := scoring.Thresholds{Score: threshold.Score, Relative: threshold.Relative}, false
	thresholds.Spares = func(entry *scoring.Fused) bool {
		short = true
		return set.IsPinned(entry)
	}
	passing, cuts := thresholds.Cut(set.Entries)
	set.Drop(cuts)
	// Chunks beyond those found rank below them: once one falls short, none of them passes.
	set.More = set.More && (!short || set.Boosts != nil && set.boostedMore(passing))
	set.Entries = passing
}

// CutByRelevance drops irrelevant entries, and all of them if the answer as a whole is
// irrelevant. Entries of unknown relevance stay if no relevance is known.
func (set *Ranked) CutByRelevance(threshold *plan.Threshold) {
	if least := threshold.Answerable; least != nil {
		if known := set.Calibrated.Answerable(); known != nil && *known < *least {
			pinned := slices.DeleteFunc(slices.Clone(set.Entries), func(e scoring.Fused) bool { return !set.IsPinned(&e) })
			set.Dropped[AnswerableThreshold] += len(set.Entries) - len(pinned)
			set.Entries, set.More = pinned, false
		}
	}
	if least := threshold.Relevance; least != nil && *least > 0 {
		kept := make([]scoring.Fused, 0, len(set.Entries))
		for i := range set.Entries {
			entry := &set.Entries[i]
			base := set.base(entry)
			known := set.Calibrated.Of(int(entry.Source), int(entry.Index)-base.Offset)
			if set.IsPinned(entry) || base.Found.IsRelevant(known, *least) {
				kept = append(kept, set.Entries[i])
			}
		}
		if n := len(set.Entries) - len(kept); n > 0 {
			set.Dropped[RelevanceThreshold] += n
		}
		set.Entries = kept
	}
}

// Names of the thresholds on relevance, beside those of scoring.
const (
	AnswerableThreshold = "answerable"
	RelevanceThreshold  = "relevance"
)

// Drop adds to the counts of hits cut by thresholds.
func (set *Ranked) Drop(cuts []scoring.Cut) {
	for _, c := range cuts {
		set.Dropped[c.Threshold] += c.Count
	}
}

// Truncate keeps the best candidates.
func (set *Ranked) Truncate(candidates int) {
	if len(set.Entries) > candidates {
		set.Entries, set.More = set.Entries[:candidates], true
	}
}

// TextOf is the text of a chunk for a reranker: title and content, or a question and its answer.
func TextOf(chunk *engine.Chunk) string {
	text := chunk.FieldText(engine.FieldText)
	if chunk.QA != nil {
		text = chunk.Question + "\n" + chunk.Answer
	}
	return strings.ToValidUTF8(text[:min(len(text), plan.MaxRerankedText)], "")
}

// CutAgain drops entries below a threshold on the score, also from the counts.
func (set *Ranked) CutAgain(threshold *plan.Threshold) {
	set.Uncut = set.Entries
	pinned := set.Entries[:set.InFront()]
	set.Entries = set.Entries[len(pinned):] // whose scores fall
	set.Cut(threshold)
	left := slices.Concat(pinned, set.Entries)
	set.Entries = set.Uncut
	set.Keep(left)
}

// Keep keeps some of the entries, also in the counts.
func (set *Ranked) Keep(some []scoring.Fused) {
	before := len(set.Entries)
	all := len(set.Counted) == before
	set.Entries = some
	switch {
	case len(set.Entries) == before:
	case all:
		set.Counted = set.Entries
	default: // near-duplicates go with the chunk they are folded into
		passing := make(map[Key]bool, len(set.Entries))
		for i := range set.Entries {
			passing[set.Key(&set.Entries[i])] = true
		}
		var counted []scoring.Fused
		for i := range set.Counted {
			e := &set.Counted[i]
			better, copied := set.Copies[set.Key(e)]
			if passing[set.Key(e)] || copied && passing[better.Key] {
				counted = append(counted, *e)
			}
		}
		set.Counted = counted
	}
}
