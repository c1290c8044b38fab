package bm25

import "slices"

// Merge merges segments until no tier is full and no segment half deleted, and
// reports whether it did any. Readers and writers go on meanwhile.
func (x *Index) Merge() bool {
	x.merging.Lock()
	defer x.merging.Unlock()
	merged := false
	for {
		views := x.Snapshot().views
		from, to, ok := mergeable(views)
		if !ok || !x.merge(views[from:to]) {
			return merged
		}
		merged = true
	}
}

// Compact merges everything into one segment without deleted chunks, so that
// they no longer count in the statistics. Readers and writers go on meanwhile.
func (x *Index) Compact() {
	x.merging.Lock()
	defer x.merging.Unlock()
	views := x.Snapshot().views
	if len(views) == 0 || len(views) == 1 && views[0].deleted == nil || !fits(views) {
		return
	}
	x.merge(views)
}

// merge replaces neighbouring views, as a snapshot had them, by one; false when
// they do not fit in one. The caller holds merging, so that no other merge takes
// the views away; writers may delete chunks of them meanwhile.
func (x *Index) merge(old []*view) bool {
	seg, ok := mergeViews(old, x.opts)
	if !ok {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	views := x.Snapshot().views
	first := slices.IndexFunc(views, func(v *view) bool { return v.lastKey() >= old[0].seg.keys[0] })
	if first < 0 {
		first = len(views)
	}
	end := first
	for end < len(views) && views[end].lastKey() <= old[len(old)-1].lastKey() {
		end++
	}
	var merged []*view
	if seg != nil {
		v := newView(seg)
		for _, key := range deletedSince(old, views[first:end]) {
			if ord, found := seg.ordinal(key); found {
				v.remove(ord)
			}
		}
		merged = []*view{v}
	}
	x.publish(slices.Concat(views[:first], merged, views[end:]))
	return true
}

// deletedSince gives the keys that are alive in the old views and not in the new
// ones, which are the same segments less those of which nothing is left.
func deletedSince(old, now []*view) (keys []uint32) {
	for _, v := range old {
		var current *view
		if len(now) > 0 && now[0].seg == v.seg {
			current, now = now[0], now[1:]
			if current.live == v.live {
				continue
			}
		}
		for ord, key := range v.seg.keys {
			if v.isLive(uint32(ord)) && (current == nil || !current.isLive(uint32(ord))) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (v *view) lastKey() uint32 { return v.seg.keys[len(v.seg.keys)-1] }
