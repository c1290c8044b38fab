package bm25

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/fault"
)

// Index is a BM25 index in memory. Its methods may be called concurrently:
// writers wait for each other, but not for merges; readers wait for nobody.
type Index struct {
	opts Options

	mu      sync.Mutex // held by the writer
	nextKey uint64     // the lowest key that may be added

	merging sync.Mutex // held by the one who merges, taken before mu

	current atomic.Pointer[Snapshot]
}

// New makes an empty index.
func New(o Options) *Index {
	x := &Index{opts: o.withDefaults()}
	x.publish(nil)
	return x
}

// Add appends chunks, in ascending order of their keys, all above every key
// added before. It is Apply(docs, nil).
func (x *Index) Add(docs []Doc) error { return x.Apply(docs, nil) }

// Delete marks chunks as deleted; unknown keys are ignored. It merges as Apply does.
func (x *Index) Delete(keys []uint32) {
	_ = x.Apply(nil, keys) // only chunks can be refused
}

// Apply is Change followed by Merge.
func (x *Index) Apply(add []Doc, del []uint32) error {
	if err := x.Change(add, del); err != nil {
		return err
	}
	x.Merge()
	return nil
}

// Change deletes chunks and adds others; a reader sees both or neither. It merges
// nothing: call Merge from time to time, beside it if you like. A batch with a
// key out of order is refused as InvalidArgument, one over a segment's limits as
// TooLarge; the index is then unchanged.
func (x *Index) Change(add []Doc, del []uint32) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.checkKeys(add); err != nil {
		return err
	}
	views := deleteKeys(x.Snapshot().views, del)
	if len(add) > 0 {
		seg, err := buildSegment(add, x.opts)
		if err != nil {
			return err
		}
		views = append(views, newView(seg))
		x.nextKey = uint64(add[len(add)-1].Key) + 1
	}
	x.publish(views)
	return nil
}

// Append is Change with chunks that another index holds already; the segments are
// shared. An index that was made with another variant or choice of positions is a
// Conflict.
func (x *Index) Append(add *Snapshot, del []uint32) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if add.opts.Variant != x.opts.Variant || add.opts.WithoutPositions != x.opts.WithoutPositions {
		return fault.New(fault.Conflict, "an index of other options cannot be appended")
	}
	if len(add.views) > 0 && uint64(add.views[0].seg.keys[0]) < x.nextKey {
		return x.lowKey(add.views[0].seg.keys[0], x.nextKey)
	}
	x.nextKey = max(x.nextKey, add.nextKey)
	x.publish(append(deleteKeys(x.Snapshot().views, del), add.views...))
	return nil
}

// Snapshot is the index as it is now.
func (x *Index) Snapshot() *Snapshot { return x.current.Load() }

func (x *Index) publish(views []*view) { x.current.Store(newSnapshot(x.opts, views, x.nextKey)) }

// checkKeys refuses keys that are not ascending and new.
func (x *Index) checkKeys(docs []Doc) error {
	next := x.nextKey
	for _, d := range docs {
		if uint64(d.Key) < next {
			return x.lowKey(d.Key, next)
		}
		next = uint64(d.Key) + 1
	}
	return nil
}

func (x *Index) lowKey(key uint32, next uint64) error {
	return fault.Invalid("key", key, fmt.Sprintf("above every key before it, the last being %d", next-1))
}

// deleteKeys gives the views with the keys marked; views that lost a chunk are
// copies.
func deleteKeys(views []*view, keys []uint32) []*view {
	out := slices.Clone(views)
	copied := make([]bool, len(out))
	for _, key := range keys {
		i, ord, ok := locate(out, key)
		if !ok || !out[i].isLive(ord) {
			continue
		}
		if !copied[i] {
			out[i], copied[i] = out[i].clone(), true
		}
		out[i].remove(ord)
	}
	return out
}

// locate finds the view and the ordinal of a key.
func locate(views []*view, key uint32) (i int, ord uint32, ok bool) {
	i, _ = slices.BinarySearchFunc(views, key, func(v *view, key uint32) int {
		switch last := v.lastKey(); {
		case last < key:
			return -1
		case last > key:
			return 1
		default:
			return 0
		}
	})
	if i == len(views) {
		return 0, 0, false
	}
	ord, ok = views[i].seg.ordinal(key)
	return i, ord, ok
}
