package tiered

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/fault"
)

// Options set a Cache up. Source, Store and Locker are required.
type Options struct {
	Source Source
	Store  Store
	Locker Locker
	Redis  *Redis // nil for no L2

	MemoryBytes int64         // bound of L1; 0 means 1 GiB
	Wait        time.Duration // how long a search waits for its index; 0 means 10 s
	LockWait    time.Duration // how long a build waits for another gateway's; 0 means 2 minutes
	Keep        time.Duration // how long older generations stay in L1; 0 means 5 s
	DeltaRows   int           // chunks changed that are worth a stored delta; 0 means 1000
	Log         *slog.Logger  // nil for slog's default
}

func (o Options) withDefaults() Options {
	o.MemoryBytes = cmp.Or(o.MemoryBytes, 1<<30)
	o.Wait = cmp.Or(o.Wait, 10*time.Second)
	o.LockWait = cmp.Or(o.LockWait, 2*time.Minute)
	o.Keep = cmp.Or(o.Keep, 5*time.Second)
	o.DeltaRows = cmp.Or(o.DeltaRows, 1000)
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// Cache gives BM25 indexes at exact generations. Its methods may be called
// concurrently.
type Cache struct {
	opts    Options
	memory  *memory
	flights singleflight.Group

	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New makes a cache with nothing in memory.
func New(o Options) *Cache {
	o = o.withDefaults()
	c := &Cache{opts: o, memory: newMemory(o.MemoryBytes, o.Keep)}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Close ends what runs in the background and waits for it. What was not stored is
// read from the log again by the next process.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.running.Wait()
}

var errClosed = fault.New(fault.Unavailable, "the keyword indexes are closed")

// begin says that something runs which Close must wait for; false when it is too
// late.
func (c *Cache) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.running.Add(1)
	return true
}

// spawn runs f beside, and Close waits for it; after Close it calls otherwise.
func (c *Cache) spawn(f, otherwise func()) {
	if !c.begin() {
		otherwise()
		return
	}
	go func() {
		defer c.running.Done()
		f()
	}()
}

// maxFlights is how many flights a search waits for: the one that was under way,
// and the next, which begins after the search's transaction and so sees it.
const maxFlights = 3

// At gives the index at a generation that the caller saw in the database. It
// waits for Options.Wait and for ctx, then it is Unavailable, while the work goes
// on for the next search. When the index has moved on the error is a
// *MovedError: begin another transaction and ask again.
func (c *Cache) At(ctx context.Context, index Index, generation int64) (*bm25.Snapshot, error) {
	index.Options.LiveStatistics = true
	ctx, stop := context.WithTimeout(ctx, c.opts.Wait)
	defer stop()
	for flight := range maxFlights {
		s, moved, stale := c.memory.get(index, generation, flight == 0)
		if s != nil {
			return s, nil
		}
		if moved != nil && (!stale || flight > 0) {
			return nil, moved
		}
		got, err := c.join(ctx, index)
		switch {
		case err != nil:
			return nil, err
		case got.generation == generation:
			return got.snapshot, nil
		case got.generation > generation:
			return nil, &MovedError{Asked: generation, Have: got.generation}
		}
	}
	return nil, fault.New(fault.Unavailable, "the database does not show generation %d of %s yet", generation, index.Name)
}

func (c *Cache) count(e *entry, d Counters) {
	c.memory.change(func() { c.memory.count(e, d) })
}

// join waits for the flight of an index, begun when none is under way. The flight
// is not the caller's: it goes on when the caller has gone.
func (c *Cache) join(ctx context.Context, index Index) (state, error) {
	result := c.flights.DoChan(index.key(), func() (any, error) {
		if !c.begin() {
			return state{}, errClosed
		}
		defer c.running.Done()
		e := c.memory.entry(index)
		s, err := c.fly(c.life, e)
		if e.unheard.Swap(false) && err != nil && c.life.Err() == nil {
			c.opts.Log.Warn("a keyword index could not be made ready", "index", index.Name, "field", index.Field, "error", err)
		}
		return s, err
	})
	select {
	case r := <-result:
		s, _ := r.Val.(state)
		return s, r.Err
	case <-ctx.Done():
		c.memory.entry(index).unheard.Store(true)
		kind := fault.Unavailable
		if errors.Is(ctx.Err(), context.Canceled) {
			kind = fault.Canceled
		}
		return state{}, fault.Wrap(kind, ctx.Err(), "the keyword index of %s is still being made ready", index.Name)
	}
}

// Invalidate drops every stored form of the indexes given, so that the next
// search builds them from the chunks. A build under way is waited for. Other
// gateways keep what they have in memory: to make them build too, change
// Options.Fingerprint with it.
func (c *Cache) Invalidate(ctx context.Context, indexes ...Index) error {
	var problems []error
	for _, index := range indexes {
		index.Options.LiveStatistics = true
		problems = append(problems, c.invalidate(ctx, index))
	}
	return errors.Join(problems...)
}

func (c *Cache) invalidate(ctx context.Context, index Index) error {
	c.memory.drop(func(i Index) bool { return i == index })
	c.flights.Forget(index.key())
	unlock, err := c.lock(ctx, index)
	if err != nil {
		return err
	}
	defer unlock()
	if c.opts.Redis != nil {
		c.opts.Redis.drop(ctx, index)
	}
	return c.opts.Store.Drop(ctx, index)
}

// Forget drops what memory and Redis have of a knowledge base that was deleted.
func (c *Cache) Forget(ctx context.Context, knowledgeBase int64) {
	for _, s := range c.State(knowledgeBase) {
		c.flights.Forget(s.Index.key())
		if c.opts.Redis != nil {
			c.opts.Redis.drop(ctx, s.Index)
		}
	}
	c.memory.drop(func(i Index) bool { return i.KnowledgeBase == knowledgeBase })
}

// lock takes the lock of an index across processes.
func (c *Cache) lock(ctx context.Context, index Index) (unlock func(), err error) {
	ctx, stop := context.WithTimeout(ctx, c.opts.LockWait)
	defer stop()
	unlock, err = c.opts.Locker.Lock(ctx, index)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "another gateway builds the keyword index of %s", index.Name)
	}
	return unlock, nil
}
