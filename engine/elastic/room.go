package elastic

import (
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// room is the memory of a union: 100 kB for a thousand hits, which is made once
// and not for each search.
type room struct {
	hits         []engine.Hit
	observations []scoring.Observation
	places       []uint64 // to be put in order
	sorted       []uint64 // while they are
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// makeRoom prepares for what is said of n hits.
func (u *union) makeRoom(n int) {
	r := u.room
	r.observations = slices.Grow(r.observations[:0], n*len(u.p.legs))
	r.places, r.sorted = slices.Grow(r.places[:0], n), slices.Grow(r.sorted[:0], n)
	u.spare = r.observations[:n*len(u.p.legs)]
}

// release gives the room to a next search, and what was answered to this one; the
// hits are gone then, and their texts.
func (u *union) release() {
	if u.room == nil {
		return
	}
	for _, a := range u.answers {
		a.release()
	}
	rooms.Put(u.room)
	u.room, u.answers, u.hits, u.spare = nil, nil, nil, nil
}

// observations gives one per leg, of those that there is room for.
func (u *union) observations() []scoring.Observation {
	n := len(u.p.legs)
	if len(u.spare) < n {
		return make([]scoring.Observation, n)
	}
	next := u.spare[:n:n]
	u.spare = u.spare[n:]
	return next
}
