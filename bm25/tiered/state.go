package tiered

import (
	"cmp"
	"slices"
	"time"
)

// Counters count what happened since the start.
type Counters struct {
	Memory    uint64 // searches answered from L1
	Redis     uint64 // indexes loaded from L2
	Store     uint64 // from L3
	Builds    uint64 // built from the chunks
	CatchUps  uint64 // brought to a later generation by the log
	Saves     uint64 // parts written to L3
	Repairs   uint64 // stored parts found damaged, or not fitting the log
	Evictions uint64 // given up in L1 for room
}

func (c *Counters) add(d Counters) {
	c.Memory += d.Memory
	c.Redis += d.Redis
	c.Store += d.Store
	c.Builds += d.Builds
	c.CatchUps += d.CatchUps
	c.Saves += d.Saves
	c.Repairs += d.Repairs
	c.Evictions += d.Evictions
}

// State tells about one index.
type State struct {
	Index      Index
	Loaded     bool // in memory; the members up to Age are zero when it is not
	Generation int64
	Docs       int
	Bytes      int64
	Age        time.Duration // since it was loaded or built
	Unsaved    int           // chunks changed since the newest stored part
	Counters   Counters
}

// State gives the indexes of a knowledge base that were asked for since the
// start, by field.
func (c *Cache) State(knowledgeBase int64) []State {
	return c.memory.states(func(i Index) bool { return i.KnowledgeBase == knowledgeBase })
}

// Totals are the counters of all indexes, those of dropped ones included, and the
// bytes that L1 takes.
func (c *Cache) Totals() (Counters, int64) {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	return c.memory.total, c.memory.bytes
}

func (m *memory) states(chosen func(Index) bool) []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []State
	for index, e := range m.entries {
		if !chosen(index) {
			continue
		}
		s := State{Index: index, Counters: e.counters}
		if e.now != nil {
			s.Loaded, s.Generation, s.Docs = true, e.now.generation, e.now.snapshot.Docs()
			s.Bytes, s.Age, s.Unsaved = e.bytes, time.Since(e.loaded), e.unsaved
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b State) int {
		return cmp.Or(
			cmp.Compare(a.Index.KnowledgeBase, b.Index.KnowledgeBase),
			cmp.Compare(a.Index.Field, b.Index.Field),
			cmp.Compare(a.Index.Options.Fingerprint, b.Index.Options.Fingerprint))
	})
	return out
}

// count adds to the counters of an index and to the total. The caller holds mu.
func (m *memory) count(e *entry, d Counters) {
	e.counters.add(d)
	m.total.add(d)
}
