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

// listing is what one engine is known to have. Readers share one flight to the engine;
// when that fails or takes long, the last answer still serves: a search then finds out
// for itself, with a better error, that the engine is away.
type listing struct {
	engine  engine.Engine
	refresh time.Duration
	flights singleflight.Group

	mu      sync.Mutex
	last    *snapshot // nil before the first answer
	tried   time.Time // when the engine was last asked
	changes int       // raised by expire
}

// snapshot is one answer of the engine; nobody changes it.
type snapshot struct {
	bases map[engine.Ref]engine.KnowledgeBase
}

// find looks a knowledge base up; there is none without an answer.
func (s *snapshot) find(ref engine.Ref) (kb engine.KnowledgeBase, ok bool) {
	if s != nil {
		kb, ok = s.bases[ref]
	}
	return kb, ok
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
			return s, nil // by a flight that landed just now
		}
		// The flight serves all who wait: none of them may cancel it.
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
	case answer := <-flight:
		if answer.Err == nil {
			return answer.Val.(*snapshot), nil
		}
		if last != nil {
			return last, nil
		}
		return nil, answer.Err
	case <-impatient:
		return last, nil
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
}

// read asks the engine. An answer that was under way while something changed is given
// to those who wait, but not kept as fresh.
func (l *listing) read(ctx context.Context) (*snapshot, error) {
	l.mu.Lock()
	before := l.changes
	l.mu.Unlock()

	bases, err := l.engine.KnowledgeBases(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes == before {
		l.tried = time.Now()
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

// known gives the last answer and whether it is to be believed. A failure is
// believed for as long: an engine that is away is not asked at every search.
func (l *listing) known() (*snapshot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.last != nil && time.Since(l.tried) < l.refresh
}

// answer is what one engine says of one knowledge base: it has it (listing is
// set), it has not, or it could not be asked (err is set).
type answer struct {
	kb      engine.KnowledgeBase
	listing *listing
	err     error
}

func (l *listing) lookUp(ctx context.Context, ref engine.Ref) answer {
	s, err := l.current(ctx)
	if err != nil {
		return answer{err: err}
	}
	kb, ok := s.bases[ref]
	if !ok {
		return answer{}
	}
	return answer{kb: kb, listing: l}
}

// expire makes the next reader ask the engine, not joining a flight that left
// before the change.
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
