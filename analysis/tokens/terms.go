package tokens

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// termSlots is the size of the term cache: a power of two, enough for the frequent words
// of a corpus (a few MB).
const termSlots = 1 << 16

// termCache turns folded words into terms. Words repeat, stemming is slow and every new
// string is an allocation, hence this direct-mapped cache without locks.
type termCache struct {
	seed  maphash.Seed
	stops map[string]bool
	slots [termSlots]atomic.Pointer[termEntry]
}

// termEntry owns its strings, so they do not keep the text alive that they are from.
type termEntry struct {
	surface, term string
	stop          bool
}

func newTermCache(stops map[string]bool) *termCache {
	return &termCache{seed: maphash.MakeSeed(), stops: stops}
}

func (c *termCache) lookup(surface string) *termEntry {
	slot := &c.slots[maphash.String(c.seed, surface)%termSlots]
	if e := slot.Load(); e != nil && e.surface == surface {
		return e
	}
	own := strings.Clone(surface)
	term := stem(own)
	if strings.HasPrefix(own, term) {
		term = own[:len(term)] // the same memory: one cache miss for both
	}
	e := &termEntry{surface: own, term: term, stop: c.stops[own]}
	slot.Store(e)
	return e
}

// stem returns Snowball's English stem of a word of Latin letters, and any other word as
// it is.
func stem(surface string) string {
	for i := range len(surface) {
		if b := surface[i]; !isLetter(b) && b != '\'' {
			return surface
		}
	}
	return english.Stem(surface, true)
}
