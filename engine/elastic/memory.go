package elastic

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/engine"
)

// How long what was read of Elasticsearch is believed, and how much is kept.
const (
	targetLife  = time.Minute
	countLife   = 10 * time.Second
	figuresLife = 30 * time.Second
	countedLife = 10 * time.Minute // of what is counted over chunks that look unchanged
	sampleLife  = 10 * time.Minute
	targetsKept = 4096
	countsKept  = 4096
	termsKept   = 100_000
	samplesKept = 64 // of 500 vectors: 0.3 MB each at 384 dimensions
)

// memory is what the engine remembers between requests. What depends on the
// chunks is kept under the generation of the knowledge base, which each write
// by this process raises; writes by others are noticed when the time is over.
type memory struct {
	targets     *lru.Cache[targetKey, *target]
	latest      atomic.Pointer[target] // that was asked for: one search does three times
	counts      *lru.Cache[countKey, aged[int]]
	fields      *lru.Cache[fieldKey, aged[knownField]]
	terms       *termMemory
	samples     *lru.Cache[sampleKey, aged[*sample]]
	generations sync.Map // engine.Ref → *atomic.Int64
	journaled   sync.Map // engine.Ref → true: writes go through a change log
}

type aged[T any] struct {
	value T
	since time.Time
}

type targetKey struct {
	ref        engine.Ref
	generation int // of the storage
}

type countKey struct {
	ref        engine.Ref
	generation int64
	digest     [sha256.Size]byte // of the request, which may be long
}

type fieldKey struct {
	ref          engine.Ref
	generation   int64
	text, vector string // fields
}

type sampleKey struct {
	ref          engine.Ref
	index, field string
}

func newMemory() *memory {
	return &memory{
		targets: lruOf[targetKey, *target](targetsKept), counts: cache[countKey, int](countsKept),
		fields: cache[fieldKey, knownField](countsKept), terms: newTermMemory(),
		samples: cache[sampleKey, *sample](samplesKept),
	}
}

func cache[K comparable, V any](size int) *lru.Cache[K, aged[V]] { return lruOf[K, aged[V]](size) }

func lruOf[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is a constant > 0
	}
	return c
}

// target recalls what a knowledge base was resolved to.
func (m *memory) target(kb *engine.KnowledgeBase) (*target, bool) {
	t := m.latest.Load()
	if t == nil || t.asked.Ref != kb.Ref || t.asked.Generation != kb.Generation {
		var ok bool
		if t, ok = m.targets.Get(targetKey{kb.Ref, kb.Generation}); !ok {
			return nil, false
		}
		m.latest.Store(t)
	}
	return t, time.Since(t.since) <= targetLife && same(&t.asked, kb)
}

func (m *memory) rememberTarget(t *target) {
	m.targets.Add(targetKey{t.asked.Ref, t.asked.Generation}, t)
	m.latest.Store(t)
}

// forgetTargets is for when knowledge bases move.
func (m *memory) forgetTargets() {
	m.targets.Purge()
	m.latest.Store(nil)
}

// knownField are the figures of a field, and its terms while they stay the same.
type knownField struct {
	fieldFigures
	terms vocabulary
}

// field recalls one; the figures of a fresh one need not be asked for again.
func (m *memory) field(of fieldKey) (field knownField, fresh bool) {
	found, ok := m.fields.Get(of)
	age := time.Since(found.since)
	if !ok || age > countedLife {
		return knownField{}, false
	}
	return found.value, age <= figuresLife
}

func (m *memory) rememberField(of fieldKey, figures fieldFigures) knownField {
	terms := m.terms.vocabulary(vocabularyKey{of.ref, of.generation, of.text, figures.docs, figures.length})
	field := knownField{figures, terms}
	remember(m.fields, of, field)
	return field
}

func recall[K comparable, V any](c *lru.Cache[K, aged[V]], key K, life time.Duration) (V, bool) {
	found, ok := c.Get(key)
	if !ok || time.Since(found.since) > life {
		var none V
		return none, false
	}
	return found.value, true
}

func remember[K comparable, V any](c *lru.Cache[K, aged[V]], key K, value V) {
	c.Add(key, aged[V]{value, time.Now()})
}

// generation counts the writes to a knowledge base.
func (m *memory) generation(t *target) int64 {
	if t.writes != nil {
		return t.writes.Load()
	}
	return m.counter(t.kb.Ref).Load()
}

// changed makes what was known of a knowledge base's chunks stale.
func (m *memory) changed(ref engine.Ref) { m.counter(ref).Add(1) }

func (m *memory) counter(ref engine.Ref) *atomic.Int64 {
	found, ok := m.generations.Load(ref)
	if !ok {
		found, _ = m.generations.LoadOrStore(ref, new(atomic.Int64))
	}
	return found.(*atomic.Int64)
}
