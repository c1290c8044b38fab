package embedded

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

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
