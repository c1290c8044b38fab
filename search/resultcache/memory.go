package resultcache

import (
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// memory is the first tier, bounded by the bytes of its answers.
type memory struct {
	cache *otter.Cache[key, kept]
}

// overhead is roughly what an entry takes beside its text.
const overhead = 256

func newMemory(bytes int64, ttl time.Duration) (*memory, error) {
	cache, err := otter.New(&otter.Options[key, kept]{
		MaximumWeight:    uint64(bytes),
		Weigher:          func(_ key, k kept) uint32 { return uint32(min(len(k.text)+overhead, 1<<31)) },
		ExpiryCalculator: otter.ExpiryWriting[key, kept](ttl),
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the cache of answers")
	}
	return &memory{cache: cache}, nil
}

// get gives an answer that is not older than ttl: one that came from Redis may be
// older than its entry here.
func (m *memory) get(k key, ttl time.Duration) (*search.Response, bool) {
	found, ok := m.cache.GetIfPresent(k)
	if !ok {
		return nil, false
	}
	return found.response(ttl)
}

// getShared is get for those who take the answer's JSON as it is, where it is shared.
func (m *memory) getShared(k key, ttl time.Duration) (*search.Response, bool) {
	found, ok := m.cache.GetIfPresent(k)
	if !ok || found.shared == nil || time.Since(found.since) > ttl {
		return m.get(k, ttl)
	}
	return &search.Response{Preset: found.preset, Shared: found.shared}, true
}

func (m *memory) put(k key, answer kept) { m.cache.Set(k, answer) }

func (m *memory) bytes() float64 { return float64(m.cache.WeightedSize()) }

func (m *memory) close() { m.cache.StopAllGoroutines() }
