package embedded

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
)

// change is what one caller wants done, as a whole or not at all.
type change struct {
	put      []*prepared
	replace  *string // a document whose chunks are removed but for those put
	document *string // a document to delete
	ids      []string
	copied   bool // by a migration, from the shape in use

	outcomes []engine.WriteOutcome // of put
	deleted  int
	err      error
	done     chan struct{}
}

// batch plans the changes of several callers as one: which rows go, and which
// chunks come, in order. It reads the snapshot and changes nothing.
type batch struct {
	snapshot *snapshot
	damaged  []damagedRow
	spoilt   []uint32    // of those, the rows that go
	put      []*prepared // nil where a later change took it back
	byID     map[string]int
	removed  *roaring.Bitmap
}

func newBatch(s *snapshot, damaged []damagedRow) *batch {
	return &batch{snapshot: s, damaged: damaged, byID: map[string]int{}, removed: roaring.New()}
}

// add plans one change after those planned before.
func (b *batch) add(c *change) {
	for _, p := range c.put {
		c.outcomes = append(c.outcomes, b.write(p))
	}
	if c.replace != nil {
		b.clearDocument(*c.replace, c.put)
	}
	if c.document != nil {
		c.deleted += b.clearDocument(*c.document, nil)
	}
	for _, id := range c.ids {
		if b.drop(id) {
			c.deleted++
		}
	}
}

func (b *batch) write(p *prepared) engine.WriteOutcome {
	outcome := engine.WriteOutcome{ID: p.record.id, Status: engine.Created}
	if p.err != nil {
		outcome.Status, outcome.Err = engine.Failed, p.err
		return outcome
	}
	if b.drop(p.record.id) {
		outcome.Status = engine.Updated
	}
	b.byID[p.record.id] = len(b.put)
	b.put = append(b.put, p)
	return outcome
}

// drop takes a chunk out, wherever it is; false when there is none.
func (b *batch) drop(id string) bool {
	if i, planned := b.byID[id]; planned {
		b.put[i] = nil
		delete(b.byID, id)
		return true
	}
	if row, found := b.snapshot.row(id); found {
		return b.removed.CheckedAdd(row)
	}
	return b.dropDamaged(func(r *damagedRow) bool { return r.id == id }) > 0
}

// dropDamaged takes damaged rows out.
func (b *batch) dropDamaged(is func(*damagedRow) bool) int {
	before := len(b.spoilt)
	b.damaged = slices.DeleteFunc(b.damaged, func(r damagedRow) bool {
		if is(&r) {
			b.spoilt = append(b.spoilt, r.row)
			return true
		}
		return false
	})
	return len(b.spoilt) - before
}

// clearDocument removes a document's chunks except those just put.
func (b *batch) clearDocument(documentID string, except []*prepared) int {
	n := b.dropDamaged(func(r *damagedRow) bool { return r.document == documentID })
	for _, row := range b.snapshot.rowsOf(documentID) {
		if b.removed.CheckedAdd(row) {
			n++
		}
	}
	for id, i := range b.byID {
		p := b.put[i]
		if p.record.documentID == documentID && !slices.Contains(except, p) {
			b.put[i] = nil
			delete(b.byID, id)
			n++
		}
	}
	return n
}

// chunks are those to be stored, in order.
func (b *batch) chunks() []*prepared {
	return slices.DeleteFunc(b.put, func(p *prepared) bool { return p == nil })
}
