package tiered

import (
	"context"
	"errors"
	"slices"

	"github.com/hybridge-search/hybridge/bm25"
)

// maxDeltas bounds the parts that a load has to put together.
const maxDeltas = 64

// keep merges and stores an index beside searches and catch-ups, one at a time.
func (c *Cache) keep(e *entry) {
	c.drain(e)
	busy := true
	c.memory.change(func() { busy, e.keeping = e.keeping, true })
	if busy {
		return
	}
	defer c.memory.change(func() { e.keeping = false })
	if x := c.index(e); x != nil && x.Merge() {
		c.republish(e, x)
	}
	var due bool
	c.memory.change(func() { due = e.now != nil && (e.rewrite || e.unsaved >= c.opts.DeltaRows) })
	if due {
		c.logged(e, c.save(c.life, e))
		c.drain(e)
	}
}

func (c *Cache) index(e *entry) (x *bm25.Index) {
	c.memory.change(func() { x = e.x })
	return x
}

// republish serves the merged segments, at the generation that is served.
func (c *Cache) republish(e *entry, x *bm25.Index) {
	e.work.Lock()
	defer e.work.Unlock()
	if now, ok := c.memory.current(e); ok && c.index(e) == x {
		c.memory.publish(e, x, now.generation, 0)
	}
}

func (c *Cache) logged(e *entry, err error) {
	if err != nil && c.life.Err() == nil {
		c.opts.Log.Warn("a keyword index was not stored; the log has its changes", "index", e.index.Name,
			"field", e.index.Field, "error", err)
	}
}

// save stores what is new: as a delta, or as a base when the deltas are many.
func (c *Cache) save(ctx context.Context, e *entry) error {
	unlock, err := c.lock(ctx, e.index)
	if err != nil {
		return err
	}
	defer unlock()
	head, err := c.opts.Store.Head(ctx, e.index)
	if err != nil {
		return err
	}
	var now state
	var unsaved int
	var rewrite bool
	c.memory.change(func() {
		if e.now != nil {
			now, unsaved, rewrite = *e.now, e.unsaved, e.rewrite
		}
	})
	switch {
	case now.snapshot == nil:
		return nil // evicted: the next who loads it stores it
	case rewrite || head.To == 0 || head.Deltas >= maxDeltas || 4*(head.DeltaDocs+unsaved) >= head.BaseDocs:
		return c.saveBase(ctx, e, now, unsaved)
	case head.To >= now.generation:
		c.settle(e, unsaved)
		return nil
	default:
		return c.saveDelta(ctx, e, head.To, unsaved)
	}
}

// saveBase stores a whole index as one segment, which is then served too.
func (c *Cache) saveBase(ctx context.Context, e *entry, s state, unsaved int) error {
	if s.generation == 0 {
		return nil // nothing was ever written
	}
	x := bm25.New(e.index.Options)
	if err := x.Append(s.snapshot, nil); err != nil {
		return err
	}
	x.Compact()
	// Beside, because a flight may be at work and wait for the lock that is held here.
	c.spawn(func() { c.adopt(e, x, s) }, func() {})
	base, err := encodeBlob(e.index, 0, s.generation, nil, x.Snapshot())
	if err != nil {
		return err
	}
	return c.store(ctx, e, base, func() []Blob { return []Blob{base} }, unsaved)
}

// adopt serves an index that is the same as a state, if that is still served.
func (c *Cache) adopt(e *entry, x *bm25.Index, s state) {
	e.work.Lock()
	defer e.work.Unlock()
	if now, ok := c.memory.current(e); ok && now.generation == s.generation {
		c.memory.publish(e, x, s.generation, 0)
	}
}

// saveDelta stores what the log has after the newest part.
func (c *Cache) saveDelta(ctx context.Context, e *entry, after int64, unsaved int) error {
	x := bm25.New(e.index.Options)
	var deleted []uint32
	rows := 0
	to, err := c.opts.Source.Changes(ctx, e.index, after, func(part Changes) error {
		rows += len(part.Added) + len(part.Deleted)
		deleted = append(deleted, part.Deleted...)
		return x.Change(part.Added, nil)
	})
	switch {
	case errors.Is(err, ErrLogTrimmed):
		if now, ok := c.memory.current(e); ok {
			return c.saveBase(ctx, e, now, unsaved)
		}
		return nil
	case err != nil:
		return err
	case to <= after:
		return nil
	}
	x.Compact()
	slices.Sort(deleted)
	delta, err := encodeBlob(e.index, after, to, deleted, x.Snapshot())
	if err != nil {
		return err
	}
	delta.Docs = rows
	return c.store(ctx, e, delta, func() []Blob {
		if n := len(e.stored); n == 0 || e.stored[n-1].To != delta.From {
			return nil
		}
		return append(slices.Clone(e.stored), delta)
	}, unsaved)
}

// store saves a part unless the index was dropped; chain gives all parts that are
// then stored, of which Redis takes those with data.
func (c *Cache) store(ctx context.Context, e *entry, b Blob, chain func() []Blob, unsaved int) error {
	var dropped bool
	c.memory.change(func() { dropped = e.dropped })
	if dropped {
		return nil
	}
	saved, err := c.opts.Store.Save(ctx, e.index, b)
	if err != nil {
		return err
	}
	c.settle(e, unsaved)
	if !saved {
		return nil // another gateway stored something newer
	}
	var parts []Blob
	c.memory.change(func() {
		c.memory.count(e, Counters{Saves: 1})
		e.rewrite = e.rewrite && !b.isBase()
		parts = chain()
		e.stored = withoutData(parts)
	})
	c.fill(e, parts)
	return nil
}

// settle takes stored rows off those to be stored.
func (c *Cache) settle(e *entry, rows int) {
	c.memory.change(func() { e.unsaved = max(0, e.unsaved-rows) })
}

// fill notes parts that Redis should have; drain puts them there, in their order:
// a delta is of use only behind its base.
func (c *Cache) fill(e *entry, parts []Blob) {
	if c.opts.Redis != nil && len(parts) > 0 {
		c.memory.change(func() { e.unfilled = append(e.unfilled, parts) })
	}
}

func (c *Cache) drain(e *entry) {
	e.filling.Lock()
	defer e.filling.Unlock()
	var all [][]Blob
	c.memory.change(func() {
		if !e.dropped {
			all = e.unfilled
		}
		e.unfilled = nil
	})
	for _, parts := range all {
		c.opts.Redis.save(c.life, e.index, parts)
	}
}

func withoutData(blobs []Blob) []Blob {
	out := slices.Clone(blobs)
	for i := range out {
		out[i].Data = nil
	}
	return out
}
