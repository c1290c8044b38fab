package embedded

import (
	"cmp"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"
)

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
