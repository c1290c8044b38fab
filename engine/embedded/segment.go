package embedded

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/filter"
)

// segment indexes consecutive rows for filters. It never changes; deleted rows stay in it
// until it is merged, so readers intersect with the snapshot's live rows.
type segment struct {
	rows    *roaring.Bitmap
	ids     []idRow // sorted by id
	columns map[string]*column
}

type idRow struct {
	id  string
	row uint32
}

// newSegment indexes ascending rows.
func newSegment(rows []uint32, records *records) *segment {
	s := &segment{
		rows:    roaring.BitmapOf(rows...),
		ids:     make([]idRow, len(rows)),
		columns: map[string]*column{},
	}
	builders := map[string]*columnBuilder{}
	for i, row := range rows {
		r := records.at(row)
		s.ids[i] = idRow{r.id, row}
		r.each(func(field string, values []filter.Value) {
			b := builders[field]
			if b == nil {
				b = newColumnBuilder()
				builders[field] = b
			}
			b.add(row, values)
		})
	}
	slices.SortFunc(s.ids, func(a, b idRow) int { return strings.Compare(a.id, b.id) })
	for field, b := range builders {
		s.columns[field] = b.build()
	}
	return s
}

func (s *segment) row(id string) (uint32, bool) {
	i, found := slices.BinarySearchFunc(s.ids, id, func(a idRow, id string) int { return cmp.Compare(a.id, id) })
	if !found {
		return 0, false
	}
	return s.ids[i].row, true
}

// withSegment appends the added rows as a segment, merges neighbours of similar size, to
// keep segments few, and rewrites segments whose rows are half dead.
func withSegment(segments []*segment, added []uint32, live *roaring.Bitmap, records *records) []*segment {
	var out []*segment
	for _, s := range segments {
		size, alive := s.rows.GetCardinality(), s.rows.AndCardinality(live)
		switch {
		case alive == 0:
		case 2*alive < size:
			out = append(out, newSegment(roaring.And(s.rows, live).ToArray(), records))
		default:
			out = append(out, s)
		}
	}
	if len(added) > 0 {
		out = append(out, newSegment(added, records))
	}
	merge := len(out)
	for merge > 1 && 2*size(out[merge-1:]) >= size(out[merge-2:merge-1]) {
		merge--
	}
	if merge < len(out) {
		out = append(out[:merge-1], merged(out[merge-1:], live, records))
	}
	return out
}

// merged makes one segment of several neighbours, without dead rows.
func merged(segments []*segment, live *roaring.Bitmap, records *records) *segment {
	rows := roaring.New()
	for _, s := range segments {
		rows.Or(s.rows)
	}
	if rows.AndCardinality(live) < rows.GetCardinality() {
		rows.And(live)
		return newSegment(rows.ToArray(), records)
	}
	all := segments[len(segments)-1]
	for i := len(segments) - 2; i >= 0; i-- { // the smallest first
		all = join(segments[i], all)
	}
	return all
}

func size(segments []*segment) uint64 {
	n := uint64(0)
	for _, s := range segments {
		n += s.rows.GetCardinality()
	}
	return n
}

// joinedSegments merges segments of ascending, live rows into one: in pairs, so that
// only the last merge touches all rows.
func joinedSegments(segments []*segment) []*segment {
	for len(segments) > 1 {
		next := make([]*segment, (len(segments)+1)/2)
		var group errgroup.Group
		group.SetLimit(loaders())
		for i := range next {
			pair := segments[2*i : min(2*i+2, len(segments))]
			group.Go(func() error {
				if next[i] = pair[0]; len(pair) == 2 {
					next[i] = join(pair[0], pair[1])
				}
				return nil
			})
		}
		_ = group.Wait() // it never fails
		segments = next
	}
	return segments
}

// join merges two segments of live rows, those of b above those of a. What is already
// sorted is not sorted again.
func join(a, b *segment) *segment {
	s := &segment{
		rows:    roaring.Or(a.rows, b.rows),
		ids:     make([]idRow, 0, len(a.ids)+len(b.ids)),
		columns: make(map[string]*column, max(len(a.columns), len(b.columns))),
	}
	walk(len(a.ids), len(b.ids), func(i, j int) int { return strings.Compare(a.ids[i].id, b.ids[j].id) },
		func(i, j int) {
			if i >= 0 {
				s.ids = append(s.ids, a.ids[i])
			}
			if j >= 0 {
				s.ids = append(s.ids, b.ids[j])
			}
		})
	for field, c := range a.columns {
		s.columns[field] = c
	}
	for field, c := range b.columns {
		if before := s.columns[field]; before != nil {
			c = joinColumns(before, c)
		}
		s.columns[field] = c
	}
	return s
}

// walk visits two sorted lists in their merged order, equal elements together; -1
// stands for no element of that list.
func walk(n, m int, compare func(i, j int) int, visit func(i, j int)) {
	i, j := 0, 0
	for i < n || j < m {
		order := 0
		switch {
		case i == n:
			order = 1
		case j == m:
			order = -1
		default:
			order = compare(i, j)
		}
		switch {
		case order < 0:
			visit(i, -1)
			i++
		case order > 0:
			visit(-1, j)
			j++
		default:
			visit(i, j)
			i, j = i+1, j+1
		}
	}
}

func joinColumns(a, b *column) *column {
	c := &column{
		exists:  roaring.Or(a.exists, b.exists),
		numbers: joinOrdered(&a.numbers, &b.numbers),
		strings: joinOrdered(&a.strings, &b.strings),
	}
	c.times = timesOf(c.strings.values)
	for i := range c.bools {
		c.bools[i] = joinPostings(&a.bools[i], &b.bools[i])
	}
	return c
}

func joinOrdered[T cmp.Ordered](a, b *ordered[T]) ordered[T] {
	out := ordered[T]{
		values:   make([]T, 0, len(a.values)+len(b.values)),
		postings: make([]posting, 0, len(a.values)+len(b.values)),
	}
	walk(len(a.values), len(b.values), func(i, j int) int { return cmp.Compare(a.values[i], b.values[j]) },
		func(i, j int) {
			switch {
			case j < 0:
				out.values, out.postings = append(out.values, a.values[i]), append(out.postings, a.postings[i])
			case i < 0:
				out.values, out.postings = append(out.values, b.values[j]), append(out.postings, b.postings[j])
			default:
				out.values = append(out.values, a.values[i])
				out.postings = append(out.postings, joinPostings(&a.postings[i], &b.postings[j]))
			}
		})
	return out
}

// joinPostings merges two postings; the rows of b lie above those of a.
func joinPostings(a, b *posting) posting {
	if n := len(a.rows) + len(b.rows); a.bitmap == nil && b.bitmap == nil && n < longPosting {
		return posting{rows: append(append(make([]uint32, 0, n), a.rows...), b.rows...)}
	}
	out := roaring.New()
	a.addTo(out)
	b.addTo(out)
	return posting{bitmap: out}
}
