package elastic

import (
	"crypto/sha256"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
)

// How long answers of Elasticsearch are cached, and how many of them.
const (
	countLife   = 10 * time.Second
	figuresLife = 30 * time.Second
	termsLife   = 10 * time.Minute // while the figures of their field stay the same
	sampleLife  = 10 * time.Minute
	targetsKept = 4096
	countsKept  = 4096
	termsKept   = 100_000
	samplesKept = 64 // of 500 vectors: 0.3 MB each at 384 dimensions
)

// memory caches data between searches. Keys of data that depend on chunks include the number of writes to the
// knowledge base by this process and of foreign changes seen by Generation, which is called before every
// search whose answer is cached. Other searches notice foreign writes when an entry expires.
type memory struct {
	targets *lru.Cache[*storage.Location, *target]
	counts  *lru.Cache[countKey, aged[int]]
	fields  *lru.Cache[fieldKey, aged[knownField]]
	terms   *termMemory
	samples *lru.Cache[sampleKey, aged[*sample]]
}

type aged[T any] struct {
	value T
	since time.Time
}

type countKey struct {
	ref    engine.Ref
	writes int64
	digest [sha256.Size]byte // of the request, which may be long
}

type fieldKey struct {
	ref          engine.Ref
	writes       int64
	text, vector string // fields
}

type sampleKey struct {
	ref          engine.Ref
	index, field string
}

func newMemory() *memory {
	return &memory{
		targets: newLRU[*storage.Location, *target](targetsKept), counts: newAgedLRU[countKey, int](countsKept),
		fields: newAgedLRU[fieldKey, knownField](countsKept), terms: newTermMemory(),
		samples: newAgedLRU[sampleKey, *sample](samplesKept),
	}
}

func newAgedLRU[K comparable, V any](size int) *lru.Cache[K, aged[V]] {
	return newLRU[K, aged[V]](size)
}

func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is a constant > 0
	}
	return c
}

// knownField is a field's figures, and the vocabulary of its terms while these stay the
// same.
type knownField struct {
	fieldFigures
	terms vocabulary
}

// field recalls a field. The figures of a fresh one need not be read again.
func (m *memory) field(of fieldKey) (field knownField, fresh bool) {
	found, ok := m.fields.Get(of)
	age := time.Since(found.since)
	if !ok || age > termsLife {
		return knownField{}, false
	}
	return found.value, age <= figuresLife
}

func (m *memory) rememberField(of fieldKey, figures fieldFigures) knownField {
	terms := m.terms.vocabulary(vocabularyKey{of.ref, of.writes, of.text, figures.docs, figures.length})
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
