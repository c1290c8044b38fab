package bm25

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/fault"
)

// Index is a BM25 index in memory. Its methods may be called concurrently:
// writers wait for each other, readers for nobody.
type Index struct {
	opts Options

	mu      sync.Mutex // held by the writer
	nextKey uint64     // the lowest key that may be added

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

// Delete marks chunks as deleted; unknown keys are ignored.
func (x *Index) Delete(keys []uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.publish(deleteKeys(x.Snapshot().views, keys))
	x.maintain()
}

// Apply deletes chunks and adds others; a reader sees both or neither. Segments
// are merged after the change is visible and before Apply returns. A batch with
// a key out of order is refused as InvalidArgument, one over a segment's limits
// as TooLarge; the index is then unchanged.
func (x *Index) Apply(add []Doc, del []uint32) error {
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
	x.maintain()
	return nil
}

// Compact merges everything into one segment without deleted chunks, so that
// they no longer count in the statistics. A reader keeps the snapshot it has.
func (x *Index) Compact() {
	x.mu.Lock()
	defer x.mu.Unlock()
	views := x.Snapshot().views
	if len(views) == 0 || len(views) == 1 && views[0].deleted == nil || !fits(views) {
		return
	}
	x.merge(0, len(views))
}

// Snapshot is the index as it is now.
func (x *Index) Snapshot() *Snapshot { return x.current.Load() }

func (x *Index) publish(views []*view) { x.current.Store(newSnapshot(x.opts, views, x.nextKey)) }

// checkKeys refuses keys that are not ascending and new.
func (x *Index) checkKeys(docs []Doc) error {
	next := x.nextKey
	for _, d := range docs {
		if uint64(d.Key) < next {
			return fault.Invalid("key", d.Key, fmt.Sprintf("above every key before it, the last being %d", next-1))
		}
		next = uint64(d.Key) + 1
	}
	return nil
}

// maintain merges until no tier is full and no segment half deleted.
func (x *Index) maintain() {
	for {
		from, to, ok := mergeable(x.Snapshot().views)
		if !ok || !x.merge(from, to) {
			return
		}
	}
}

// merge replaces neighbouring views by one; false when they do not fit in one.
func (x *Index) merge(from, to int) bool {
	views := x.Snapshot().views
	seg, ok := mergeViews(views[from:to], x.opts)
	if !ok {
		return false
	}
	var merged []*view
	if seg != nil {
		merged = []*view{newView(seg)}
	}
	x.publish(slices.Concat(views[:from], merged, views[to:]))
	return true
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
		switch last := v.seg.keys[len(v.seg.keys)-1]; {
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
