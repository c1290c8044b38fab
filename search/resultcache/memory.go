package resultcache

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// memory is the first tier, bounded by the bytes of its answers: the least recently used go first. It is safe for
// concurrent use.
type memory struct {
	most int64 // bytes

	mu    sync.Mutex
	cache *simplelru.LRU[key, kept]
	size  int64 // bytes
}

// overhead is roughly the size of an entry beside its text.
const overhead = 256

func weight(answer *kept) int64 { return int64(len(answer.text) + overhead) }

func newMemory(bytes int64) (*memory, error) {
	m := &memory{most: bytes}
	var err error
	m.cache, err = simplelru.NewLRU(max(1, int(bytes/overhead)), func(_ key, gone kept) { m.size -= weight(&gone) })
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the cache of answers")
	}
	return m, nil
}

// find gives the answer of a key. One older than ttl is dropped: one from Redis may be older than
// its entry here.
func (m *memory) find(k key, ttl time.Duration) (kept, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.cache.Get(k)
	if ok && time.Since(found.since) > ttl {
		m.cache.Remove(k)
		return kept{}, false
	}
	return found, ok
}

func (m *memory) get(k key, ttl time.Duration) (*search.Response, bool) {
	found, ok := m.find(k, ttl)
	if !ok {
		return nil, false
	}
	return found.response(ttl)
}

// getShared is get for callers that take the answer's JSON unchanged, if it is shared.
func (m *memory) getShared(k key, ttl time.Duration) (*search.Response, bool) {
	found, ok := m.find(k, ttl)
	if !ok || found.shared == nil {
		return m.get(k, ttl)
	}
	return &search.Response{Preset: found.preset, Shared: found.shared}, true
}

// put caches an answer, unless it alone is larger than the memory.
func (m *memory) put(k key, answer kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cache.Remove(k)
	if weight(&answer) > m.most {
		return
	}
	for m.size+weight(&answer) > m.most {
		m.cache.RemoveOldest()
	}
	m.cache.Add(k, answer)
	m.size += weight(&answer)
}

func (m *memory) bytes() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return float64(m.size)
}
