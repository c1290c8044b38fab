package embedded

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
)

// change is one caller's write, applied atomically.
type change struct {
	put      []*prepared
	replace  *string // a document whose chunks are removed except those in put
	document *string // a document to delete
	ids      []string
	edit     *engine.ChangeRequest
	copied   bool // by a migration, from the shape in use
	// request restricts what put may replace; nil: anything.
	request *engine.WriteRequest

	outcomes []engine.WriteOutcome // of put
	edited   []engine.ChangeOutcome
	deleted  int
	refused  error // why nothing was done
	err      error
	done     chan struct{}
}

// reset prepares a change to be planned again.
func (c *change) reset() { c.outcomes, c.edited, c.deleted, c.refused = nil, nil, 0, nil }

// batch plans the changes of several callers as one: the rows to delete and the chunks to
// insert, in order. It reads the snapshot and changes nothing.
type batch struct {
	base     *base
	snapshot *snapshot
	read     map[uint32]*engine.Chunk // chunks read while planning, by row
	damaged  []damagedRow
	spoilt   []uint32    // the damaged rows to delete
	put      []*prepared // nil if a later change replaced or removed it
	byID     map[string]int
	removed  *roaring.Bitmap
}

func newBatch(of *base, s *snapshot) *batch {
	return &batch{
		base: of, snapshot: s, read: map[uint32]*engine.Chunk{}, damaged: of.damage.all(),
		byID: map[string]int{}, removed: roaring.New(),
	}
}

// add plans one more change, or nothing if it is refused.
func (b *batch) add(ctx context.Context, c *change) {
	if c.refused = b.look(ctx, c); c.refused != nil {
		return
	}
	if c.edit != nil {
		b.editAll(c)
		return
	}
	for _, p := range c.put {
		c.outcomes = append(c.outcomes, b.write(c, p))
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

func (b *batch) write(c *change, p *prepared) engine.WriteOutcome {
	outcome := engine.WriteOutcome{ID: p.record.id, Status: engine.Created}
	if err := b.admits(c, p); err != nil {
		outcome.Status, outcome.Err = engine.Failed, err
		return outcome
	}
	if b.store(p) {
		outcome.Status = engine.Updated
	}
	return outcome
}

// store plans to insert or replace a chunk; false if it is new.
func (b *batch) store(p *prepared) (replaced bool) {
	replaced = b.drop(p.record.id)
	b.byID[p.record.id] = len(b.put)
	b.put = append(b.put, p)
	return replaced
}

// drop plans to remove a chunk; false if there is none.
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

// dropDamaged plans to remove damaged rows.
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

// chunks returns the chunks to insert, in order.
func (b *batch) chunks() []*prepared {
	return slices.DeleteFunc(b.put, func(p *prepared) bool { return p == nil })
}
