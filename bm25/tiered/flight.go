package tiered

import (
	"context"
	"errors"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/fault"
)

// errUnfit says that an index does not fit the log: too old for it, ahead of it,
// or with other keys. The next tier is asked.
var errUnfit = errors.New("the index does not fit the log")

// fly brings an index to the database's generation, from the first tier that has
// it. It is the only one of its index at a time, unless the index was dropped.
func (c *Cache) fly(ctx context.Context, e *entry) (state, error) {
	e.work.Lock()
	defer e.work.Unlock()
	for _, tier := range []func(context.Context, *entry) (state, error){
		c.fromMemory, c.fromRedis, c.fromStore, c.build,
	} {
		s, err := tier(ctx, e)
		switch {
		case err == nil:
			c.spawn(func() { c.keep(e) }, func() {})
			return s, nil
		case errors.Is(err, errUnfit):
			c.count(e, Counters{Repairs: 1})
			c.opts.Log.Warn("a keyword index does not fit the log of changes; the next tier is asked", "index", e.index.Name,
				"field", e.index.Field)
		case !errors.Is(err, errMiss):
			return state{}, err
		}
	}
	return state{}, fault.Wrap(fault.Internal, errUnfit, "the log of %s contradicts its chunks", e.index.Name)
}

// errMiss says that a tier does not have the index.
var errMiss = errors.New("not in this tier")

func (c *Cache) fromMemory(ctx context.Context, e *entry) (state, error) {
	var x *bm25.Index
	var at int64
	c.memory.change(func() {
		if x = e.x; x != nil {
			at = e.now.generation
		}
	})
	if x == nil {
		return state{}, errMiss
	}
	before := x.Snapshot()
	s, err := c.catchUp(ctx, e, x, at)
	if err != nil {
		if errors.Is(err, errUnfit) || x.Snapshot() != before { // it may be half changed
			c.memory.change(func() { c.memory.release(e) })
		}
		return state{}, err
	}
	if s.generation > at {
		c.count(e, Counters{CatchUps: 1})
	}
	return s, nil
}

// fromRedis takes what is in Redis if it is as new as what the database has.
func (c *Cache) fromRedis(ctx context.Context, e *entry) (state, error) {
	if c.opts.Redis == nil {
		return state{}, errMiss
	}
	head, err := c.opts.Store.Head(ctx, e.index)
	if err != nil {
		return state{}, unavailable(err, e.index)
	}
	blobs := c.opts.Redis.load(ctx, e.index)
	if len(blobs) == 0 || blobs[len(blobs)-1].To != head.To {
		return state{}, errMiss
	}
	x, at, err := restore(e.index, blobs)
	if err != nil {
		c.damaged(e, "Redis", err)
		c.opts.Redis.drop(ctx, e.index)
		return state{}, errMiss
	}
	s, err := c.catchUp(ctx, e, x, at)
	if err == nil {
		c.know(e, Counters{Redis: 1}, blobs)
	}
	return s, err
}

func (c *Cache) fromStore(ctx context.Context, e *entry) (state, error) {
	blobs, err := c.opts.Store.Load(ctx, e.index)
	if err != nil {
		return state{}, unavailable(err, e.index)
	}
	if len(blobs) == 0 {
		return state{}, errMiss
	}
	x, at, broken := restore(e.index, blobs)
	var known bool
	c.memory.change(func() { known, e.rewrite = e.rewrite, broken != nil })
	if broken != nil && !known {
		c.damaged(e, "the database", broken)
	}
	if x == nil {
		return state{}, errMiss
	}
	s, err := c.catchUp(ctx, e, x, at)
	if err != nil {
		return s, err
	}
	if broken == nil {
		c.fill(e, blobs)
	}
	c.know(e, Counters{Store: 1}, blobs)
	return s, nil
}

// damaged tells about a stored part that cannot be read. Another format or
// analyzer is nothing to repair.
func (c *Cache) damaged(e *entry, where string, err error) {
	if fault.Is(err, fault.Corrupt) {
		c.count(e, Counters{Repairs: 1})
	}
	c.opts.Log.Warn("a stored keyword index cannot be used and is replaced", "index", e.index.Name,
		"field", e.index.Field, "from", where, "reason", err)
}

// build makes the index from all chunks, in one process at a time, and stores it
// before another process may begin.
func (c *Cache) build(ctx context.Context, e *entry) (state, error) {
	unlock, err := c.lock(ctx, e.index)
	if err != nil {
		return state{}, err
	}
	s, err := c.fromStore(ctx, e) // another process may have built it meanwhile
	if !errors.Is(err, errMiss) && !errors.Is(err, errUnfit) {
		unlock()
		return s, err
	}
	s, err = c.catchUp(ctx, e, bm25.New(e.index.Options), 0)
	if err != nil {
		unlock()
		return state{}, err
	}
	c.know(e, Counters{Builds: 1}, nil)
	var unsaved int
	c.memory.change(func() { unsaved, e.keeping = e.unsaved, true })
	c.spawn(func() {
		defer c.memory.change(func() { e.keeping = false })
		defer unlock()
		c.logged(e, c.saveBase(c.life, e, s, unsaved))
		c.drain(e)
	}, unlock)
	return s, nil
}

// catchUp applies what the log has after a generation and publishes the result.
func (c *Cache) catchUp(ctx context.Context, e *entry, x *bm25.Index, at int64) (state, error) {
	rows := 0
	var refused error
	seen, err := c.opts.Source.Changes(ctx, e.index, at, func(part Changes) error {
		rows += len(part.Added) + len(part.Deleted)
		refused = x.Change(part.Added, part.Deleted)
		return refused
	})
	switch {
	case fault.Is(refused, fault.InvalidArgument), errors.Is(err, ErrLogTrimmed), err == nil && seen < at:
		return state{}, errUnfit
	case refused != nil:
		return state{}, refused
	case err != nil:
		return state{}, unavailable(err, e.index)
	}
	return c.memory.publish(e, x, seen, rows), nil
}

// know counts where an index came from and notes which parts are stored.
func (c *Cache) know(e *entry, d Counters, stored []Blob) {
	c.memory.change(func() {
		c.memory.count(e, d)
		e.stored = withoutData(stored)
	})
}

func unavailable(err error, index Index) error {
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "reading the keyword index of %s", index.Name)
}
