package storage

import (
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/engine"
)

const (
	locationLife  = time.Minute // how long a location is cached
	locationsKept = 4096
)

// recent caches data between requests.
type recent struct {
	locations *lru.Cache[locationKey, remembered]
	writes    sync.Map // engine.Ref → *atomic.Int64
	states    sync.Map // engine.Ref → string: the last generation that was seen
	logged    sync.Map // engine.Ref → true: writes go through a change log
	overdue   sync.Map // overdue → time.Time: when an entry was seen first that is not in its document
}

// overdue is an entry of a change log by the revision of its document.
type overdue struct {
	ref   engine.Ref
	id    string
	seqNo int64
}

type locationKey struct {
	ref        engine.Ref
	generation int // of the storage
}

// remembered is a cached location of a knowledge base.
type remembered struct {
	asked engine.KnowledgeBase // as the caller described it
	at    *Location
	since time.Time
}

func newRecent() *recent {
	locations, err := lru.New[locationKey, remembered](locationsKept)
	if err != nil {
		panic(err) // the size is a constant > 0
	}
	return &recent{locations: locations}
}

// location returns the cached location of a knowledge base.
func (r *recent) location(kb *engine.KnowledgeBase) (*Location, bool) {
	last, ok := r.locations.Get(locationKey{kb.Ref, kb.Generation})
	if !ok || time.Since(last.since) > locationLife || !same(&last.asked, kb) {
		return nil, false
	}
	return last.at, true
}

func (r *recent) rememberLocation(kb *engine.KnowledgeBase, at *Location) {
	r.locations.Add(locationKey{kb.Ref, kb.Generation}, remembered{*kb, at, time.Now()})
}

func (r *recent) forgetLocation(kb *engine.KnowledgeBase) {
	r.locations.Remove(locationKey{kb.Ref, kb.Generation})
}

// Writes counts the writes by this process to a knowledge base, and those by others that
// Generation has noticed: what was read of its chunks may be outdated once the count has
// changed.
func (s *Store) Writes(ref engine.Ref) int64 { return s.recent.counter(ref).Load() }

// seen records the state of the chunks: a different one is a change, whoever made it.
// Concurrent calls may see states in the wrong order, which may count too many changes but
// never too few.
func (r *recent) seen(ref engine.Ref, state string) {
	if last, _ := r.states.Swap(ref, state); last != state {
		r.changed(ref)
	}
}

// changed records that chunks were written.
func (r *recent) changed(ref engine.Ref) { r.counter(ref).Add(1) }

func (r *recent) counter(ref engine.Ref) *atomic.Int64 {
	known, ok := r.writes.Load(ref)
	if !ok {
		known, _ = r.writes.LoadOrStore(ref, new(atomic.Int64))
	}
	return known.(*atomic.Int64)
}

// Forget records the end of a migration: the change log is gone, and the knowledge base may
// be in another index.
func (s *Store) Forget(ref engine.Ref) {
	s.recent.logged.Delete(ref)
	s.recent.overdue.Range(func(key, _ any) bool {
		if key.(overdue).ref == ref {
			s.recent.overdue.Delete(key)
		}
		return true
	})
	s.recent.forget(ref)
}

// forget drops the cached location of a knowledge base.
func (r *recent) forget(ref engine.Ref) {
	r.locations.Purge()
	r.changed(ref)
}
