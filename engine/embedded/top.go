package embedded

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// scored is a row with its score.
type scored struct {
	row   uint32
	score float64
}

// top keeps the best k rows, by score and then by chunk id. It collects more than
// k and throws out the worst when its room is used up: a row costs constant time
// on average, and most of them one comparison.
type top struct {
	k       int
	records *records
	kept    []scored
	from    *[]scored // where kept goes back to
	room    int
	floor   float64 // k of the rows kept are at least as good
}

// leastRoom lets a small k throw out rows rarely, too.
const leastRoom = 64

func newTop(k, most int, r *records) *top {
	k = max(0, min(k, most))
	t := &top{k: k, records: r, room: 2*k + leastRoom, floor: math.Inf(-1)}
	t.from = rooms.Get().(*[]scored)
	t.kept = slices.Grow((*t.from)[:0], min(t.room, most))
	if k == 0 {
		t.floor = math.NaN() // nothing is good enough
	}
	return t
}

// rooms holds what a top kept its rows in, between searches.
var rooms = sync.Pool{New: func() any { return new([]scored) }}

// release gives the top's room back; the top is of no use any longer.
func (t *top) release() {
	*t.from = t.kept[:0]
	rooms.Put(t.from)
	t.kept, t.from = nil, nil
}

// offer takes a row in unless it does not belong to the best k so far.
func (t *top) offer(row uint32, score float64) {
	if score >= t.floor {
		t.add(scored{row, score})
	}
}

func (t *top) add(s scored) {
	if len(t.kept) == t.room {
		t.throwOut()
	}
	t.kept = append(t.kept, s)
}

// throwOut leaves the best k, in any order. It halves the range in which the k-th
// lies (Hoare, "Algorithm 65: Find", 1961).
func (t *top) throwOut() {
	if len(t.kept) <= t.k {
		return
	}
	from, to := 0, len(t.kept)
	for from < t.k && t.k < to {
		middle := from + t.partition(t.kept[from:to])
		if middle < t.k {
			from = middle + 1
		} else {
			to = middle
		}
	}
	t.kept = t.kept[:t.k]
	t.floor = math.Inf(1)
	for _, s := range t.kept {
		t.floor = min(t.floor, s.score)
	}
}

// partition puts one row, chosen at random, at its place among the rows, the
// better ones in front of it, and gives that place.
func (t *top) partition(rows []scored) int {
	last := len(rows) - 1
	chosen := rand.IntN(len(rows))
	rows[chosen], rows[last] = rows[last], rows[chosen]
	pivot, place := rows[last], 0
	for i, s := range rows[:last] {
		if t.before(s, pivot) {
			rows[i], rows[place] = rows[place], s
			place++
		}
	}
	rows[place], rows[last] = pivot, rows[place]
	return place
}

// before reports whether a stands before b; scores are no NaN.
func (t *top) before(a, b scored) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return t.records.at(a.row).id < t.records.at(b.row).id
}

// sorted gives the rows, best first, and releases the top.
func (t *top) sorted() []scored {
	defer t.release()
	t.throwOut()
	room := borrowOrder(len(t.kept))
	defer orders.Put(room)
	order := *room
	for i, s := range t.kept {
		order[i] = placed(float32(s.score), i)
	}
	sortFalling(order, func(a, b int) int {
		if t.before(t.kept[a], t.kept[b]) {
			return -1
		}
		return 1 // no row stands twice
	})
	out := make([]scored, len(order))
	for i, o := range order {
		out[i] = t.kept[uint32(o)]
	}
	return out
}
