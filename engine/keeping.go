package engine

import (
	"context"
	"sync/atomic"
)

// Keeping goes with a search whose answer is to be kept. What was looked up before the
// data changed must not get into such an answer: it would outlive the change. All methods
// work on nil, for a search whose answer nobody keeps, and are safe for concurrent use.
type Keeping struct {
	// States has the Generation of each knowledge base from before the search began. What is
	// remembered between searches is remembered by it.
	States map[Ref]string

	outdated atomic.Bool
}

type keepingKey struct{}

// In gives a context of the search.
func (k *Keeping) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepingKey{}, k)
}

// KeepingOf is that of the search that a context belongs to, nil where there is none.
func KeepingOf(ctx context.Context) *Keeping {
	k, _ := ctx.Value(keepingKey{}).(*Keeping)
	return k
}

// State is the generation of a knowledge base, empty where it is not known.
func (k *Keeping) State(ref Ref) string {
	if k == nil {
		return ""
	}
	return k.States[ref]
}

// Outdate says that the answer depends on something from before a change: it may be given,
// but not kept.
func (k *Keeping) Outdate() {
	if k != nil {
		k.outdated.Store(true)
	}
}

// Outdated reports whether Outdate was called.
func (k *Keeping) Outdated() bool { return k != nil && k.outdated.Load() }
