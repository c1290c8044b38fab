package rank

import (
	"github.com/hybridge-search/hybridge/scoring"
)

// CountBetter counts the entries, up to so many, that every leg puts at least as high as one: whatever the legs weigh,
// these rank before it.
func (set *Ranked) CountBetter(entry *scoring.Fused, most int) (n int) {
	this := set.Hit(entry).Observations
	for i := range set.Entries {
		other := &set.Entries[i]
		if other.Index == entry.Index {
			continue
		}
		if above(set.Hit(other).Observations, this) {
			if n++; n == most {
				break
			}
		}
	}
	return n
}

// above reports whether every leg puts a chunk at least as high as another one, and one leg higher.
func above(a, b []scoring.Observation) bool {
	higher := false
	for leg := range a {
		x, y := &a[leg], &b[leg]
		switch {
		case x.Rank > 0 && y.Rank > 0:
			if x.Rank > y.Rank {
				return false
			}
			higher = higher || x.Rank < y.Rank
		case x.Rank > 0:
			higher = true
		case y.Rank > 0:
			return false
		case x.Known() && y.Known():
			if x.Raw < y.Raw {
				return false
			}
			higher = higher || x.Raw > y.Raw
		}
	}
	return higher
}
