package embedded

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// scores are numbers of live rows, by row.
type scores struct {
	*layout
	list []float32
	from *[]float32 // pooled list to return
}

func (s *scores) at(row uint32) float64 { return float64(s.list[s.index(row)]) }

func (s *scores) set(row uint32, score float32) { s.list[s.index(row)] = score }

// part returns the scores of the rows from first to last, except those on no page.
func (s *scores) part(first, last uint32) []float32 { return s.list[s.index(first) : s.index(last)+1] }

// of gives the scores of ascending rows: in place where the rows are adjacent, else
// copied into room.
func (s *scores) of(rows []uint32, room []float32) []float32 {
	first, last := rows[0], rows[len(rows)-1]
	if part := s.part(first, last); len(part) == len(rows) {
		return part
	}
	room = room[:len(rows)]
	for i, row := range rows {
		room[i] = s.list[s.index(row)]
	}
	return room
}

// lists pools lists of numbers between searches. With a million rows, allocating and
// clearing them for each would take longer than most of the search.
var lists = sync.Pool{New: func() any { return new([]float32) }}

// borrowList returns n uninitialised numbers; the list goes back to lists.
func borrowList(n int) *[]float32 {
	room := lists.Get().(*[]float32)
	*room = slices.Grow((*room)[:0], n)[:n]
	return room
}

// borrow returns uninitialised scores for all live rows.
func (s *snapshot) borrow() scores {
	l := s.layout()
	room := borrowList(l.size)
	return scores{layout: l, list: *room, from: room}
}

// release returns the list to the pool; it must not be used after that.
func (s *scores) release() {
	if s.from != nil {
		lists.Put(s.from)
	}
}

// layout maps live rows to places in a list, page by page, leaving out pages without a
// live row. Row numbers are never reused, so the live rows of a knowledge base that
// has been written to for long lie far apart.
type layout struct {
	shift  uint     // a page has 1 << shift rows
	first  int      // page
	starts []uint32 // of its rows, from the first page on; noPage without a live row
	size   int      // of the list
}

// leastLayout is the least size of a page, as a power of two.
const leastLayout = 10

// noPage is beyond every list.
const noPage = math.MaxUint32

// layOut makes the layout of the live rows. Rows on one page of vectors are adjacent
// in it.
func (s *snapshot) layOut() *layout {
	l := &layout{shift: leastLayout}
	for i := range s.vectors {
		l.shift = max(l.shift, s.vectors[i].shift)
	}
	if s.live.IsEmpty() {
		return l
	}
	l.first = int(s.live.Minimum() >> l.shift)
	l.starts = make([]uint32, int(s.live.Maximum()>>l.shift)-l.first+1)
	for i := range l.starts {
		l.starts[i] = noPage
	}
	for rows := s.live.Iterator(); rows.HasNext(); {
		page := rows.PeekNext() >> l.shift
		l.starts[int(page)-l.first] = uint32(l.size)
		l.size += 1 << l.shift
		if page == math.MaxUint32>>l.shift {
			break
		}
		rows.AdvanceIfNeeded((page + 1) << l.shift)
	}
	return l
}

// index returns the place of a live row, or of any row on the same page of vectors.
func (l *layout) index(row uint32) int {
	return int(l.starts[int(row>>l.shift)-l.first]) + int(row&(1<<l.shift-1))
}

// The number of rows from which a second processor pays off: for adding up numbers in
// memory, and for estimating or scoring rows.
const (
	parallelNear = 16384
	parallelRows = 2048
)

// partsOf divides rows into parts of at least so many: some for each processor, so
// that one that joins late takes fewer.
func partsOf(rows []uint32, least int) [][]uint32 {
	return divided(rows, min(4*runtime.GOMAXPROCS(0), len(rows)/least))
}

func divided(rows []uint32, n int) [][]uint32 {
	parts := make([][]uint32, max(1, n))
	for i := range parts {
		parts[i] = rows[i*len(rows)/len(parts) : (i+1)*len(rows)/len(parts)]
	}
	return parts
}

// eachPart works on the parts on all processors.
func eachPart(parts [][]uint32, work func(part int, rows []uint32)) {
	var next atomic.Int64
	take := func() {
		for i := next.Add(1) - 1; int(i) < len(parts); i = next.Add(1) - 1 {
			work(int(i), parts[i])
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) - 1 {
		others.Go(take)
	}
	take()
	others.Wait()
}
