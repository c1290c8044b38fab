package catalog

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// How long reading a listing may take, and how long a caller waits for it while there
// is an older one.
const (
	flightTimeout = 10 * time.Second
	patience      = 500 * time.Millisecond
)

// listing caches the knowledge bases of one engine. Readers share one request to the
// engine; if it fails or is slow, they get the last snapshot: a search then reports, with a
// better error, that the engine is unavailable.
type listing struct {
	engine  engine.Engine
	refresh time.Duration
	flights singleflight.Group

	mu      sync.Mutex // never held while a snapshot's is taken
	last    *snapshot  // nil before the first
	tried   time.Time  // when the engine was last asked
	changes int        // counted by expire
}

// snapshot is the list of an engine at one time, plus later creations and deletions by this
// gateway. It is safe for concurrent use.
type snapshot struct {
	mu    sync.RWMutex
	bases map[engine.Ref]engine.KnowledgeBase
}

// find looks a knowledge base up; a nil snapshot has none.
func (s *snapshot) find(ref engine.Ref) (kb engine.KnowledgeBase, ok bool) {
	if s == nil {
		return kb, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	kb, ok = s.bases[ref]
	return kb, ok
}

// each calls do with every knowledge base. do must not call the snapshot.
func (s *snapshot) each(do func(engine.KnowledgeBase)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, kb := range s.bases {
		do(kb)
	}
}

func newListing(e engine.Engine, refresh time.Duration) *listing {
	return &listing{engine: e, refresh: refresh}
}

// current gives the listing, read anew when it is old.
func (l *listing) current(ctx context.Context) (*snapshot, error) {
	last, fresh := l.known()
	if fresh {
		return last, nil
	}
	flight := l.flights.DoChan("list", func() (any, error) {
		if s, fresh := l.known(); fresh {
			return s, nil // of a flight that landed just now
		}
		// Several readers may wait for the flight: none of them may cancel it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTimeout)
		defer cancel()
		return l.read(ctx)
	})
	var impatient <-chan time.Time
	if last != nil {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		impatient = timer.C
	}
	select {
	case landed := <-flight:
		if landed.Err == nil {
			return landed.Val.(*snapshot), nil
		}
		if last != nil {
			return last, nil
		}
		return nil, landed.Err
	case <-impatient:
		return last, nil
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
}

// read asks the engine. A snapshot that was under way while something changed goes to
// the readers who wait, but does not count as fresh.
func (l *listing) read(ctx context.Context) (*snapshot, error) {
	l.mu.Lock()
	before := l.changes
	l.mu.Unlock()

	bases, err := l.engine.KnowledgeBases(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried = time.Now()
	if l.changes != before {
		l.tried = time.Time{}
	}
	if err != nil {
		return nil, err
	}
	s := &snapshot{bases: make(map[engine.Ref]engine.KnowledgeBase, len(bases))}
	for _, kb := range bases {
		s.bases[kb.Ref] = kb
	}
	l.last = s
	return s, nil
}

// known returns the last snapshot and whether it counts as fresh. It does for as long after
// a failed flight, so that not every search asks an unavailable engine.
func (l *listing) known() (*snapshot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.last != nil && time.Since(l.tried) < l.refresh
}

// lookUpResult is the result of one engine for one knowledge base: found (listing is set),
// not found, or failed (err is set).
type lookUpResult struct {
	kb      engine.KnowledgeBase
	listing *listing
	err     error
}

func (l *listing) lookUp(ctx context.Context, ref engine.Ref) lookUpResult {
	s, err := l.current(ctx)
	if err != nil {
		return lookUpResult{err: err}
	}
	kb, ok := s.find(ref)
	if !ok {
		return lookUpResult{}
	}
	return lookUpResult{kb: kb, listing: l}
}

// get reads one knowledge base from the engine; the ok is false when there is none.
func (l *listing) get(ctx context.Context, ref engine.Ref) (kb engine.KnowledgeBase, ok bool, err error) {
	finder, can := l.engine.(engine.Finder)
	if !can {
		l.expire()
		s, err := l.current(ctx)
		if err != nil {
			return kb, false, err
		}
		kb, ok = s.find(ref)
		return kb, ok, nil
	}
	kb, err = finder.KnowledgeBase(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return kb, false, nil
	}
	return kb, err == nil, err
}

// note enters a change that was made here, kb nil where one was deleted, so that the next reader
// need not list all. A flight that left before the change does not count as fresh.
func (l *listing) note(ref engine.Ref, kb *engine.KnowledgeBase) {
	l.mu.Lock()
	l.changes++
	last := l.last
	l.mu.Unlock()
	l.flights.Forget("list")
	if last == nil {
		return
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	if kb == nil {
		delete(last.bases, ref)
		return
	}
	last.bases[ref] = *kb
}

// expire makes the next reader ask the engine, and not join a flight that left before
// the change.
func (l *listing) expire() {
	l.mu.Lock()
	l.changes++
	l.tried = time.Time{}
	l.mu.Unlock()
	l.flights.Forget("list")
}

func canceled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, ctx.Err(), "listing the knowledge bases took too long")
	}
	return fault.Wrap(fault.Canceled, ctx.Err(), "listing the knowledge bases was canceled")
}
