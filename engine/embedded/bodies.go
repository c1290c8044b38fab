package embedded

import (
	"github.com/maypok86/otter/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// bodies are stored chunks that are kept in memory, up to so many bytes. A row's body
// never changes and its number is not used again, so none is ever out of date; those of
// deleted rows are no longer asked for and go first. It is safe for concurrent use.
type bodies struct {
	most  uint64
	cache *otter.Cache[bodyKey, string]
}

// bodyKey is a row of a table.
type bodyKey struct {
	table int64
	row   uint32
}

// bodyBytes is what stored chunks may take in memory.
const bodyBytes = 32 << 20

// bodyOverhead is about what the cache takes for a body.
const bodyOverhead = 128

func newBodies(most uint64) (*bodies, error) {
	cache, err := otter.New(&otter.Options[bodyKey, string]{
		MaximumWeight: most,
		Weigher:       func(_ bodyKey, text string) uint32 { return uint32(min(len(text)+bodyOverhead, 1<<31)) },
		Executor:      func(task func()) { task() }, // nothing goes on behind a search
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the cache of stored chunks")
	}
	return &bodies{most: most, cache: cache}, nil
}

// find gives the bodies of rows, "" where it has none, and whether it has all.
func (b *bodies) find(table int64, rows []uint32) (found []string, all bool) {
	found, all = make([]string, len(rows)), true
	for i, row := range rows {
		text, known := b.cache.GetIfPresent(bodyKey{table, row})
		found[i], all = text, all && known
	}
	return found, all
}

// room reports whether many more can be kept without forgetting one.
func (b *bodies) room() bool { return b.cache.WeightedSize() < b.most/2 }

// keep notes the body of a row that is committed.
func (b *bodies) keep(table int64, row uint32, text string) { b.cache.Set(bodyKey{table, row}, text) }
