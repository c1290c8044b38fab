package rank

import (
	"github.com/hybridge-search/hybridge/scoring"
)

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

// MaxScore is the first one's, or that of an entry that rules pin before it.
func (set *Ranked) MaxScore() float64 {
	most := 0.0
	for i := range set.Entries[:min(set.InFront()+1, len(set.Entries))] {
		most = max(most, set.Entries[i].Score)
	}
	return most
}
