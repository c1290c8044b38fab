package embedded

import "math"

// layout says where in a list the numbers of rows stand: page by page of rows, but for
// pages without a live row. Row numbers are not used again, so the live rows of a
// knowledge base that is written for long lie far apart.
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

// layOut makes the layout of the live rows. The rows of a page of vectors follow one
// another in it.
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

// index is the place of a live row, or of one on its page of vectors.
func (l *layout) index(row uint32) int {
	return int(l.starts[int(row>>l.shift)-l.first]) + int(row&(1<<l.shift-1))
}
