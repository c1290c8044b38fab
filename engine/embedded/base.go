package embedded

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// base is one knowledge base. Its snapshot is nil until it is loaded, and again after a
// change that may be half applied in memory: the file is authoritative.
type base struct {
	engine  *Engine
	kb      engine.KnowledgeBase
	table   *table
	texts   []string // text fields
	current atomic.Pointer[snapshot]
	moved   atomic.Bool  // replaced by another base
	counted atomic.Int64 // chunks, while the snapshot is nil; -1: unknown
	repairs atomic.Int64 // stored BM25 indexes that had to be rebuilt

	mu      sync.Mutex // held to change the memory or the chunks' table
	gone    bool       // deleted
	indexes []*bm25.Index
	unsaved int // rows changed since the BM25 indexes were saved

	saving sync.Mutex

	flight struct {
		sync.Mutex
		done chan struct{} // closed after the load in progress; nil if none
		err  error
	}

	damage damage

	queue struct {
		sync.Mutex
		waiting []*change
	}
}

func newBase(e *Engine, s stored) *base {
	b := &base{
		engine: e,
		kb:     s.kb,
		table:  tableOf(s.number, &s.kb),
		texts:  s.kb.StoredTexts(),
	}
	b.table.made.Store(s.made)
	b.counted.Store(-1)
	return b
}

// count counts the chunks, hidden ones included.
func (b *base) count(ctx context.Context) (int64, error) {
	if s := b.current.Load(); s != nil {
		return int64(s.live.GetCardinality()), nil
	}
	if n := b.counted.Load(); n >= 0 {
		return n, nil
	}
	var n int64
	err := b.engine.files.readers.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+b.table.source()).Scan(&n)
	if err == nil {
		b.counted.Store(n)
	}
	return n, sqlite.Fault(err, "counting the chunks of knowledge base %q", b.kb.ID)
}

// ready returns the snapshot, loading it first if necessary. Concurrent callers share one
// load, which survives the cancellation of any of them.
func (b *base) ready(ctx context.Context) (*snapshot, error) {
	for {
		if s := b.current.Load(); s != nil {
			return s, nil
		}
		done, err := b.startLoad()
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, sqlite.Fault(ctx.Err(), "waiting for knowledge base %q to load", b.kb.ID)
		case <-done:
		}
		if err := b.loadError(done); err != nil {
			return nil, err
		}
	}
}

// startLoad begins a load unless one is running.
func (b *base) startLoad() (chan struct{}, error) {
	b.flight.Lock()
	defer b.flight.Unlock()
	if b.flight.done != nil {
		select {
		case <-b.flight.done:
		default:
			return b.flight.done, nil
		}
	}
	done := make(chan struct{})
	started := b.engine.background(func() {
		err := b.loadOnce(b.engine.life)
		b.flight.Lock()
		b.flight.err = err
		b.flight.Unlock()
		close(done)
	})
	if !started {
		return nil, fault.New(fault.Unavailable, "the embedded engine is closed")
	}
	b.flight.done = done
	return done, nil
}

// loadError returns the error of a finished load; nil if another load follows.
func (b *base) loadError(done chan struct{}) error {
	b.flight.Lock()
	defer b.flight.Unlock()
	if b.flight.done != done {
		return nil
	}
	return b.flight.err
}

func (b *base) loadOnce(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return b.notFound()
	}
	if b.current.Load() != nil {
		return nil
	}
	return b.load(ctx)
}

// notFound is the fault for a deleted base.
func (b *base) notFound() error {
	if b.moved.Load() {
		return errMoved
	}
	return fault.New(fault.NotFound, "knowledge base %q does not exist", b.kb.ID)
}

// forget drops the memory, so that the next use reads the file again. The
// caller holds mu.
func (b *base) forget() {
	b.current.Store(nil)
	b.counted.Store(-1)
	b.indexes = nil
}

func (b *base) dims() []int {
	dims := make([]int, len(b.table.vectors))
	for i := range dims {
		dims[i] = b.kb.Dimensions
	}
	return dims
}

func (b *base) textSnapshots() []*bm25.Snapshot {
	all := make([]*bm25.Snapshot, len(b.indexes))
	for i, x := range b.indexes {
		all[i] = x.Snapshot()
	}
	return all
}
