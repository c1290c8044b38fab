// Package mirror keeps one knowledge base on several engines: every write goes
// to each of them, with one outcome per engine and chunk, and what an engine
// missed is made up for from an outbox.
//
// The outbox says which chunks of which engine may be behind, never what they
// should be: an entry is written before the engines are, and taken out when all
// of them have the chunk. Making up for one copies what another engine holds at
// that moment, so entries can be repeated and come in any order, and a process
// that is killed between two engines leaves entries that bring them together.
//
//	mirror.go     Mirror: the engines, the locks, the loop that empties the outbox
//	set.go        Set: the engines of one knowledge base as one engine.Engine
//	write.go      writes to all, and what the outbox is told of them
//	change.go     chunks that one engine decides about, copied to the others
//	laggards.go   engines that hang, which other writes do not wait for
//	outbox.go     the entries, in SQLite
//	reconcile.go  making up for entries
//	check.go      comparing engines chunk by chunk
//	migration.go  the shape of a knowledge base changed on all
//
// Writes to one knowledge base wait for each other, so that all engines see
// them in one order; none waits long for an engine that hangs. Two gateways that
// write the same chunk at the same moment can still leave different versions;
// Check finds and repairs that.
package mirror

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Options of a Mirror.
type Options struct {
	// Path is the folder of the outbox, which must exist.
	Path string
	// Engines lists the engines that knowledge bases may name.
	Engines []engine.Engine
	Logger  *slog.Logger
	// Retry is the wait before an entry is tried again, doubled at each failure
	// up to 5 minutes; 0: 2 seconds.
	Retry time.Duration
	// Patience is the wait of a write for an engine after another has finished; 0: 5
	// seconds. The outbox makes up for missed writes.
	Patience time.Duration
}

const (
	defaultRetry = 2 * time.Second
	longestRetry = 5 * time.Minute
)

// Mirror keeps the outbox of all mirrored knowledge bases. It is safe for
// concurrent use.
type Mirror struct {
	engines map[string]engine.Engine
	log     *slog.Logger
	retry   time.Duration
	outbox  *outbox

	patience time.Duration
	laggards laggards

	mu    sync.Mutex
	locks map[engine.Ref]chan struct{}

	stop context.CancelFunc
	done chan struct{}
}

// Open opens the outbox and begins to empty it.
func Open(ctx context.Context, o Options) (*Mirror, error) {
	box, err := openOutbox(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	m := &Mirror{
		engines: make(map[string]engine.Engine, len(o.Engines)), log: o.Logger, retry: o.Retry,
		outbox: box, locks: map[engine.Ref]chan struct{}{}, done: make(chan struct{}),
		patience: cmp.Or(o.Patience, defaultPatience), laggards: laggards{all: map[string]laggard{}},
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.retry <= 0 {
		m.retry = defaultRetry
	}
	for _, e := range o.Engines {
		m.engines[e.Name()] = e
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	go m.run(running)
	return m, nil
}

// Close stops the loop, waiting for what it is doing, and closes the outbox.
// The engines stay open.
func (m *Mirror) Close() error {
	m.stop()
	<-m.done
	return m.outbox.close()
}

// run empties the outbox until the context ends. It wakes when a debt is due or added, not
// periodically: most gateways never have debts.
func (m *Mirror) run(ctx context.Context) {
	defer close(m.done)
	last := time.Now() // a running write settles most of its own debts
	for {
		due, owed, err := m.outbox.earliest(ctx)
		m.complain(ctx, err)
		var ring <-chan time.Time
		if owed || err != nil {
			ring = time.After(time.Until(later(due, last.Add(m.retry/2))))
		}
		select {
		case <-ctx.Done():
			return
		case <-m.outbox.noted:
		case <-ring:
			m.complain(ctx, m.makeUp(ctx))
			last = time.Now()
		}
	}
}

func (m *Mirror) complain(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		m.log.Warn("the outbox could not be emptied", "error", err)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// lock keeps all other writes to a knowledge base waiting until release.
func (m *Mirror) lock(ctx context.Context, ref engine.Ref) (release func(), err error) {
	m.mu.Lock()
	held, ok := m.locks[ref]
	if !ok {
		held = make(chan struct{}, 1)
		m.locks[ref] = held
	}
	m.mu.Unlock()
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Canceled, ctx.Err(), "waiting for other writes to knowledge base %q", ref.ID)
	}
}

// wait is the delay before the next attempt of an entry that failed so often.
func (m *Mirror) wait(attempts int) time.Duration {
	const doublings = 12
	return min(m.retry<<min(attempts, doublings), longestRetry)
}
