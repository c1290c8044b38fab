package rank

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// TextOf is what a reranker reads of a chunk: title and content, or a question and its answer.
func TextOf(chunk *engine.Chunk) string {
	text := chunk.FieldText(engine.FieldText)
	if chunk.QA != nil {
		text = chunk.Question + "\n" + chunk.Answer
	}
	return strings.ToValidUTF8(text[:min(len(text), plan.MaxRerankedText)], "")
}

// CutAgain drops what is under a threshold on the score, from what is counted too.
func (set *Ranked) CutAgain(threshold *plan.Threshold) {
	set.Uncut = set.Entries
	pinned := set.Entries[:set.InFront()]
	set.Entries = set.Entries[len(pinned):] // whose scores fall
	set.Cut(threshold)
	left := slices.Concat(pinned, set.Entries)
	set.Entries = set.Uncut
	set.Keep(left)
}

// Keep leaves some of the entries, of what is counted too.
func (set *Ranked) Keep(some []scoring.Fused) {
	before := len(set.Entries)
	all := len(set.Counted) == before
	set.Entries = some
	switch {
	case len(set.Entries) == before:
	case all:
		set.Counted = set.Entries
	default: // copies go with the chunk that stands for them
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
