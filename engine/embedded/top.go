package embedded

import (
	"math"
	"slices"
	"strings"
)

// scored is a row with its score.
type scored struct {
	row   uint32
	score float64
}

// top keeps the best k rows, by score and then by chunk id. It collects more than k
// and cuts when it is full, so most rows cost one comparison with the floor.
type top struct {
	k       int
	records *records
	kept    []scored
	floor   float64 // k of the rows kept are at least as good
}

// leastRoom prevents frequent cuts for a small k.
const leastRoom = 64

func newTop(k, most int, r *records) *top {
	k = max(0, min(k, most))
	t := &top{k: k, records: r, floor: math.Inf(-1)}
	t.kept = make([]scored, 0, 2*k+leastRoom)
	if k == 0 {
		t.floor = math.NaN() // nothing qualifies
	}
	return t
}

// offer adds a row if it may belong to the best k so far.
func (t *top) offer(row uint32, score float64) {
	if !(score >= t.floor) {
		return
	}
	if len(t.kept) == cap(t.kept) {
		t.cut()
	}
	t.kept = append(t.kept, scored{row, score})
}

// cut sorts the rows and leaves the best k.
func (t *top) cut() {
	slices.SortFunc(t.kept, t.compare)
	if len(t.kept) > t.k {
		t.kept = t.kept[:t.k]
		t.floor = t.kept[t.k-1].score
	}
}

// compare puts the better row first; scores are never NaN.
func (t *top) compare(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	default:
		return strings.Compare(t.records.at(a.row).id, t.records.at(b.row).id)
	}
}

// sorted gives the best k rows, best first.
func (t *top) sorted() []scored {
	t.cut()
	return t.kept
}
