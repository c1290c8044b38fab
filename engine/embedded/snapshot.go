package embedded

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
)

// snapshot is a knowledge base at one moment. It never changes: a search reads
// it without a lock.
type snapshot struct {
	generation int64
	records    records
	live       *roaring.Bitmap // rows that exist
	visible    *roaring.Bitmap // and are available
	segments   []*segment      // ascending rows
	vectors    []vectors       // by vector field
	texts      []*bm25.Snapshot
	bytes      int64 // stored

	rows    func() []uint32  // visible, as a list
	layout  func() *layout   // of lists of scores
	samples []func() *sample // by vector field
}

func newSnapshot(dims []int) *snapshot {
	s := &snapshot{live: roaring.New(), visible: roaring.New()}
	for _, d := range dims {
		s.vectors = append(s.vectors, newVectors(d))
	}
	s.arrange()
	return s
}

// with returns the snapshot after a change; texts are the new text indexes. The rows of the
// entries ascend and lie above all rows of the snapshot.
func (s *snapshot) with(add []entry, removed []uint32, texts []*bm25.Snapshot) *snapshot {
	next := &snapshot{
		generation: s.generation + 1,
		live:       s.live.Clone(),
		visible:    s.visible.Clone(),
		texts:      texts,
		bytes:      s.bytes,
	}
	for _, row := range removed {
		next.bytes -= int64(s.records.at(row).bytes)
		next.live.Remove(row)
		next.visible.Remove(row)
	}
	added := make([]uint32, len(add))
	for i := range add {
		added[i] = add[i].row
		next.bytes += int64(add[i].record.bytes)
		next.live.Add(add[i].row)
		if add[i].record.available {
			next.visible.Add(add[i].row)
		}
	}
	next.records = s.records.with(add)
	next.segments = withSegment(s.segments, added, next.live, &next.records)
	next.records = next.records.without(removed, next.live)
	for i := range s.vectors {
		next.vectors = append(next.vectors, s.vectors[i].with(add, removed, i).without(removed, next.live))
	}
	next.arrange()
	return next
}

// arrange sets up the lazily computed members.
func (s *snapshot) arrange() {
	s.rows = sync.OnceValue(s.visible.ToArray)
	s.layout = sync.OnceValue(s.layOut)
	s.samples = nil
	for i := range s.vectors {
		s.samples = append(s.samples, sync.OnceValue(func() *sample { return s.sample(i) }))
	}
}

// row finds the live row of a chunk.
func (s *snapshot) row(id string) (uint32, bool) {
	for i := len(s.segments) - 1; i >= 0; i-- {
		if row, found := s.segments[i].row(id); found && s.live.Contains(row) {
			return row, true
		}
	}
	return 0, false
}

// rowsOf gives the live rows of a document.
func (s *snapshot) rowsOf(documentID string) []uint32 {
	out := roaring.New()
	for _, seg := range s.segments {
		if c := seg.columns[fieldDocumentID]; c != nil {
			c.strings.addEqual(documentID, out)
		}
	}
	out.And(s.live)
	return out.ToArray()
}

// rowsAfter gives the live rows by their chunks' ids, from the one after id on.
func (s *snapshot) rowsAfter(id string) []idRow {
	var out []idRow
	for _, seg := range s.segments {
		for _, r := range seg.ids {
			if r.id > id && s.live.Contains(r.row) {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b idRow) int { return strings.Compare(a.id, b.id) })
	return out
}

// memory estimates the snapshot's size in bytes. It looks at live rows only: rows after
// them may be written for the next snapshot.
func (s *snapshot) memory() int64 {
	total := int64(0)
	for rows := s.live.Iterator(); rows.HasNext(); {
		total += int64(unsafe.Sizeof(record{})+unsafe.Sizeof(idRow{})) + s.records.at(rows.Next()).strings()
	}
	for i := range s.vectors {
		total += s.vectors[i].bytes()
	}
	for _, text := range s.texts {
		total += text.Bytes()
	}
	return total
}
