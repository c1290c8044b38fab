package embedded

import (
	"math/rand/v2"
	"testing"
)

// TestLayout: every live row has a place of its own, in order; rows of a page stand side
// by side, and pages without a live row take no room.
func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		dims  int
		rows  []uint32
		pages int
	}{
		"none":                             {8, nil, 0},
		"neighbours":                       {64, []uint32{1, 2, 3, 1023, 1024}, 2},
		"far apart":                        {64, []uint32{5, 700_000, 700_001, 1 << 30, 1<<32 - 2}, 4},
		"a page of vectors that is larger": {1, []uint32{1, 60_000, 200_000}, 2},
	} {
		s := newSnapshot([]int{c.dims})
		for _, row := range c.rows {
			s.live.Add(row)
		}
		l := s.layout()
		if l.size != c.pages<<l.shift {
			t.Errorf("%s: room for %d rows, want %d pages of %d", name, l.size, c.pages, 1<<l.shift)
		}
		before := -1
		for i, row := range c.rows {
			at := l.index(row)
			if at <= before || at >= l.size {
				t.Errorf("%s: row %d at %d of %d, behind %d", name, row, at, l.size, before)
			}
			if i > 0 && c.rows[i-1]>>s.vectors[0].shift == row>>s.vectors[0].shift && at-before != int(row-c.rows[i-1]) {
				t.Errorf("%s: row %d at %d, the one before on its page at %d", name, row, at, before)
			}
			before = at
		}
	}
}

// TestRoomForScoresDoesNotGrow: a knowledge base whose chunks are replaced without end
// needs no more room for scores in the end than its live rows lie on pages.
func TestRoomForScoresDoesNotGrow(t *testing.T) {
	s := newSnapshot([]int{64})
	random := rand.New(rand.NewPCG(1, 2))
	rows, next := make([]uint32, 2000), uint32(1) // of chunks, by chunk
	for round := range 400 {
		var removed []uint32
		for range 500 {
			chunk := random.IntN(len(rows))
			if rows[chunk] > 0 {
				removed = append(removed, rows[chunk])
			}
			rows[chunk] = next
			next++
		}
		s.live.AddRange(uint64(next-500), uint64(next))
		for _, row := range removed {
			s.live.Remove(row)
		}
		if l := s.layOut(); round == 399 && l.size > 40*len(rows) {
			t.Errorf("room for %d scores of %d live rows, after %d", l.size, s.live.GetCardinality(), next)
		}
	}
}
