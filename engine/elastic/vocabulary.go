package elastic

import (
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/hybridge-search/hybridge/engine"
)

// vocabulary names the terms of a text field while its chunks look unchanged; 0: none. It
// keeps the keys of terms short, of which a question has a dozen.
type vocabulary uint64

// vocabularyKey says among which chunks terms were counted.
type vocabularyKey struct {
	ref        engine.Ref
	generation int64
	field      string
	docs       int
	length     float64
}

// termKey names a term's frequency.
type termKey struct {
	of   vocabulary
	term string
}

// termMemory are the document frequencies of terms. It is safe for concurrent use.
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
	return &termMemory{vocabularies: lruOf[vocabularyKey, vocabulary](countsKept), counts: counts}
}

// vocabulary gives the one of these chunks, a new one where there is none.
func (m *termMemory) vocabulary(of vocabularyKey) vocabulary {
	if found, ok := m.vocabularies.Get(of); ok {
		return found
	}
	m.mu.Lock()
	m.last++
	made := m.last
	m.mu.Unlock()
	if found, ok, _ := m.vocabularies.PeekOrAdd(of, made); ok {
		return found // somebody else was faster
	}
	return made
}

// recall fills in the frequencies of the terms that are remembered, and gives the
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
