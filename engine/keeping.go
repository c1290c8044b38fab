package engine

import (
	"context"
	"sync/atomic"
)

// Keeping accompanies a search whose answer will be cached. Such an answer must not contain
// data from before a change: it would outlive the change. All methods accept nil, for
// answers that are not cached, and are safe for concurrent use.
type Keeping struct {
	// States holds the Generation of each knowledge base from before the search began. It keys all caches
	// shared between searches.
	States map[Ref]string

	outdated atomic.Bool
}

type keepingKey struct{}

// In returns a context that carries k.
func (k *Keeping) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepingKey{}, k)
}

// KeepingOf returns the Keeping of a context, nil if it has none.
func KeepingOf(ctx context.Context) *Keeping {
	k, _ := ctx.Value(keepingKey{}).(*Keeping)
	return k
}

// State returns the generation of a knowledge base, empty if unknown.
func (k *Keeping) State(ref Ref) string {
	if k == nil {
		return ""
	}
	return k.States[ref]
}

// Outdate marks the answer as based on outdated data: it may be returned but not cached.
func (k *Keeping) Outdate() {
	if k != nil {
		k.outdated.Store(true)
	}
}

// Outdated reports whether Outdate was called.
func (k *Keeping) Outdated() bool { return k != nil && k.outdated.Load() }
