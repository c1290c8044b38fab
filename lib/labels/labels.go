// Package labels keeps the labels of metrics few.
package labels

import (
	"sync"

	"github.com/hybridge-search/hybridge/fault"
)

// Succeeded is the outcome of what did.
const Succeeded = "ok"

// Outcome is how something ended: Succeeded, or the kind of its error.
func Outcome(err error) string {
	if err == nil {
		return Succeeded
	}
	return string(fault.KindOf(err))
}

// Other is the label of what came when there were enough.
const Other = "other"

// limit is how many names become labels.
const limit = 64

// Bounded makes labels of names that users may invent: the first 64 stay as they are. Its zero
// value is ready, and safe for concurrent use.
type Bounded struct {
	mu    sync.RWMutex
	known map[string]bool
}

// Of is the label of a name.
func (b *Bounded) Of(name string) string {
	b.mu.RLock()
	known := b.known[name]
	b.mu.RUnlock()
	if known {
		return name
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[string]bool{}
	}
	if !b.known[name] && len(b.known) >= limit {
		return Other
	}
	b.known[name] = true
	return name
}
