package bm25

import "testing"

// While an index grows by small changes, a chunk is merged a number of times that
// depends on the logarithm of the index's size alone, and the segments are few.
func TestMergesAreFewForEachChunk(t *testing.T) {
	for _, batch := range []int{1, 7, 256, 1000} {
		chunks := min(1<<20, batch<<17)
		var views []*view
		written, most := 0, 0
		for n := 0; n < chunks; n += batch {
			views = append(views, viewOf(batch))
			for from, to, ok := mergeable(views); ok; from, to, ok = mergeable(views) {
				size := 0
				for _, v := range views[from:to] {
					size += v.live
				}
				views = append(views[:from:from], viewOf(size))
				written += size
			}
			most = max(most, len(views))
		}
		// Below firstTier a merge is of all chunks, and that small.
		if limit := (lastTier + firstTier/fanIn) * chunks; written > limit {
			t.Errorf("batches of %d: merges wrote %d chunks, over %d", batch, written, limit)
		}
		if limit := fanIn*lastTier + chunks>>18; most > limit {
			t.Errorf("batches of %d: %d segments, over %d", batch, most, limit)
		}
	}
}

func viewOf(chunks int) *view { return &view{seg: &segment{}, live: chunks} }
