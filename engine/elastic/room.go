package elastic

import (
	"hash/maphash"
	"math/bits"
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
	byID         hitTable
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

// hitTable finds hits by their ids: it has their places, from 1, by the hashes of the
// ids, and 0 where there is none. A map would be larger than the hits it finds.
type hitTable []int32

var idSeed = maphash.MakeSeed()

// begin makes the table empty, with room for n hits.
func (t *hitTable) begin(n int) {
	size := 2 << bits.Len(uint(n))
	*t = slices.Grow((*t)[:0], size)[:size]
	clear(*t)
}

// slot is where the place of an id among the hits is, or goes. More hits than there
// is room for are put into a larger table.
func (t *hitTable) slot(hits []engine.Hit, id string) *int32 {
	if 2*len(hits) >= len(*t) {
		t.begin(2 * len(hits))
		for i := range hits {
			*t.probe(hits, hits[i].ID) = int32(i) + 1
		}
	}
	return t.probe(hits, id)
}

func (t *hitTable) probe(hits []engine.Hit, id string) *int32 {
	table := *t
	slot := int(maphash.String(idSeed, id)) & (len(table) - 1)
	for table[slot] > 0 && hits[table[slot]-1].ID != id {
		slot = (slot + 1) & (len(table) - 1)
	}
	return &table[slot]
}
