package embedded

import (
	"context"
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
	edit     *engine.ChangeRequest
	copied   bool // by a migration, from the shape in use
	// request says what put may replace; nil: anything.
	request *engine.WriteRequest

	outcomes []engine.WriteOutcome // of put
	edited   []engine.ChangeOutcome
	deleted  int
	refused  error // nothing of it was done
	err      error
	done     chan struct{}
}

// reset makes a change ready to be planned again.
func (c *change) reset() { c.outcomes, c.edited, c.deleted, c.refused = nil, nil, 0, nil }

// batch plans the changes of several callers as one: which rows go, and which
// chunks come, in order. It reads the snapshot and changes nothing.
type batch struct {
	base     *base
	snapshot *snapshot
	read     map[uint32]*engine.Chunk // of rows whose chunks had to be looked at
	damaged  []damagedRow
	spoilt   []uint32    // of those, the rows that go
	put      []*prepared // nil where a later change took it back
	byID     map[string]int
	removed  *roaring.Bitmap
}

func newBatch(of *base, s *snapshot) *batch {
	return &batch{
		base: of, snapshot: s, read: map[uint32]*engine.Chunk{}, damaged: of.damage.all(),
		byID: map[string]int{}, removed: roaring.New(),
	}
}

// add plans one change after those planned before, or none of it where it is refused.
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

// store plans a chunk in place of the one of its id; false when there is none.
func (b *batch) store(p *prepared) (replaced bool) {
	replaced = b.drop(p.record.id)
	b.byID[p.record.id] = len(b.put)
	b.put = append(b.put, p)
	return replaced
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
