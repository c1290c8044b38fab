package tiered

import (
	"container/list"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
)

// memory is L1: the indexes in use, the least recently used given up when they
// take too many bytes together. Entries stay when their index goes: they are
// small, and count.
type memory struct {
	limit int64         // bytes
	keep  time.Duration // how long a snapshot of an older generation is kept

	mu      sync.Mutex // guards what is below and the published part of every entry
	entries map[Index]*entry
	recent  *list.List // of *entry with an index, the last used in front
	bytes   int64
	total   Counters
}

// entry is one index.
type entry struct {
	index Index

	work    sync.Mutex  // held while x changes and is published
	filling sync.Mutex  // held while Redis is filled
	unheard atomic.Bool // somebody stopped waiting for the flight under way

	// Guarded by memory.mu.
	x        *bm25.Index // what becomes the next generation
	now      *state      // what is served; nil, as x, when there is nothing
	before   []state
	element  *list.Element
	bytes    int64
	counters Counters
	loaded   time.Time
	unsaved  int      // rows changed since the newest stored part
	rewrite  bool     // what is stored is damaged
	stored   []Blob   // the stored parts, without data, as far as known
	unfilled [][]Blob // what Redis is to get
	keeping  bool     // in the background
	dropped  bool     // by Invalidate
}

// state is an index at one generation.
type state struct {
	generation int64
	snapshot   *bm25.Snapshot
	since      time.Time
}

// maxBefore is how many older generations are kept for a moment, for searches
// whose transaction began before a write.
const maxBefore = 16

func newMemory(limit int64, keep time.Duration) *memory {
	return &memory{limit: limit, keep: keep, entries: map[Index]*entry{}, recent: list.New()}
}

// entry gives the entry of an index, made when there is none.
func (m *memory) entry(index Index) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(index)
}

func (m *memory) find(index Index) *entry {
	e := m.entries[index]
	if e == nil {
		e = &entry{index: index}
		m.entries[index] = e
	}
	return e
}

// get gives the snapshot of a generation and marks the index as used; a first look
// that finds it counts. Without it, moved tells that the index is newer, and has
// been for so long that nobody should ask for that generation when stale is true.
func (m *memory) get(index Index, generation int64, first bool) (s *bm25.Snapshot, moved *MovedError, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.find(index)
	if e.now == nil {
		return nil, nil, false
	}
	m.recent.MoveToFront(e.element)
	if s := e.snapshot(generation); s != nil {
		if first {
			m.count(e, Counters{Memory: 1})
		}
		return s, nil, false
	}
	if e.now.generation < generation {
		return nil, nil, false
	}
	return nil, &MovedError{Asked: generation, Have: e.now.generation}, time.Since(e.now.since) > m.keep
}

// snapshot gives a generation that is in memory, nil for any other.
func (e *entry) snapshot(generation int64) *bm25.Snapshot {
	if e.now.generation == generation {
		return e.now.snapshot
	}
	for _, old := range e.before {
		if old.generation == generation {
			return old.snapshot
		}
	}
	return nil
}

// publish makes an index, which is at a generation, the one that is served; rows
// are the chunks changed since it was published before. The caller holds e.work.
func (m *memory) publish(e *entry, x *bm25.Index, generation int64, rows int) state {
	next := state{generation: generation, snapshot: x.Snapshot(), since: time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.dropped {
		return next
	}
	if e.now == nil {
		e.loaded = next.since
		e.element = m.recent.PushFront(e)
	}
	e.retire(m.keep)
	if e.now != nil && e.now.generation == next.generation {
		next.since = e.now.since
	} else if e.now != nil {
		e.before = append(e.before, *e.now)
	}
	e.now, e.x = &next, x
	e.unsaved += rows
	m.bytes += next.snapshot.Bytes() - e.bytes
	e.bytes = next.snapshot.Bytes()
	m.shrink(e)
	return next
}

// retire forgets older generations that nobody should still ask for.
func (e *entry) retire(keep time.Duration) {
	e.before = slices.DeleteFunc(e.before, func(s state) bool { return time.Since(s.since) > keep })
	if len(e.before) >= maxBefore {
		e.before = slices.Delete(e.before, 0, len(e.before)-maxBefore+1)
	}
}

// shrink gives up the least recently used indexes; the given one last.
func (m *memory) shrink(last *entry) {
	for m.bytes > m.limit && m.recent.Len() > 0 {
		victim := m.recent.Back().Value.(*entry)
		if victim == last && m.recent.Len() > 1 {
			m.recent.MoveToFront(last.element)
			continue
		}
		m.release(victim)
		m.count(victim, Counters{Evictions: 1})
	}
}

// release takes the index out of memory.
func (m *memory) release(e *entry) {
	if e.now == nil {
		return
	}
	m.recent.Remove(e.element)
	m.bytes -= e.bytes
	e.x, e.now, e.before, e.element, e.bytes, e.unsaved = nil, nil, nil, nil, 0, 0
}

// drop forgets every entry that is chosen, and what is under way for it.
func (m *memory) drop(chosen func(Index) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for index, e := range m.entries {
		if chosen(index) {
			m.release(e)
			e.dropped = true
			delete(m.entries, index)
		}
	}
}

// current gives what is served.
func (m *memory) current(e *entry) (state, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.now == nil {
		return state{}, false
	}
	return *e.now, true
}

// change runs f while the published part of e may be read and set.
func (m *memory) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}
