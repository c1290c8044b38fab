package tokens

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// termSlots is the size of the term cache: a power of two that holds the
// frequent words of a corpus (a few MB).
const termSlots = 1 << 16

// termCache turns a folded word into its term. Words repeat, stemming is slow
// and every new string is an allocation: a direct-mapped cache without locks.
type termCache struct {
	seed  maphash.Seed
	stops map[string]bool
	slots [termSlots]atomic.Pointer[termEntry]
}

// termEntry owns its strings: they do not keep the text alive they came from.
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
		term = own[:len(term)] // the same place in memory: one look for both
	}
	e := &termEntry{surface: own, term: term, stop: c.stops[own]}
	slot.Store(e)
	return e
}

// stem is Snowball's English stem of a word of Latin letters, else the word.
func stem(surface string) string {
	for i := range len(surface) {
		if b := surface[i]; !isLetter(b) && b != '\'' {
			return surface
		}
	}
	return english.Stem(surface, true)
}
