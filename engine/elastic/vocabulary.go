package elastic

import (
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/hybridge-search/hybridge/engine"
)

// vocabulary identifies the terms of a text field while its chunks look unchanged; 0: none.
// It keeps the keys of terms short: a question has a dozen of them.
type vocabulary uint64

// vocabularyKey tells the chunks among which terms were counted.
type vocabularyKey struct {
	ref        engine.Ref
	generation int64
	field      string
	docs       int
	length     float64
}

// termKey is the cache key of a term's frequency.
type termKey struct {
	of   vocabulary
	term string
}

// termMemory remembers the document frequencies of terms. It is safe for concurrent use.
type termMemory struct {
	vocabularies *lru.Cache[vocabularyKey, vocabulary]

	mu     sync.Mutex
	last   vocabulary
	counts *simplelru.LRU[termKey, aged[int]]
}

func newTermMemory() *termMemory {
	counts, err := simplelru.NewLRU[termKey, aged[int]](termsKept, nil)
	if err != nil {
		panic(err) // the size is a constant > 0
	}
	return &termMemory{vocabularies: newLRU[vocabularyKey, vocabulary](countsKept), counts: counts}
}

// vocabulary returns the one of these chunks, or a new one.
func (m *termMemory) vocabulary(of vocabularyKey) vocabulary {
	if found, ok := m.vocabularies.Get(of); ok {
		return found
	}
	m.mu.Lock()
	m.last++
	made := m.last
	m.mu.Unlock()
	if found, ok, _ := m.vocabularies.PeekOrAdd(of, made); ok {
		return found // made at the same time by another search
	}
	return made
}

// recall fills in the frequencies of the terms that are remembered, and returns the
// others, each once.
func (m *termMemory) recall(of vocabulary, terms []string, life time.Duration, df []int) (unknown []string) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, term := range terms {
		found, ok := m.counts.Get(termKey{of, term})
		if ok && now.Sub(found.since) <= life {
			df[i] = found.value
			continue
		}
		if df[i] = 0; !slices.Contains(unknown, term) {
			unknown = append(unknown, term)
		}
	}
	return unknown
}

func (m *termMemory) remember(of vocabulary, terms []string, df []int) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, term := range terms {
		m.counts.Add(termKey{of, term}, aged[int]{df[i], now})
	}
}
