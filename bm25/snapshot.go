package bm25

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// view is a segment with its deleted chunks as one snapshot sees them.
type view struct {
	seg     *segment
	deleted []uint64  // a bit per ordinal; nil when none is deleted
	live    int       // chunks not deleted
	inverse []float32 // norm → 1/(k1·(1-b+b·length/average)), set by newSnapshot
}

func newView(seg *segment) *view { return &view{seg: seg, live: len(seg.keys)} }

func (v *view) isLive(ord uint32) bool {
	return v.deleted == nil || v.deleted[ord>>6]>>(ord&63)&1 == 0
}

// clone is a copy that may be changed.
func (v *view) clone() *view {
	c := *v
	c.deleted = slices.Clone(v.deleted)
	return &c
}

func (v *view) remove(ord uint32) {
	if v.deleted == nil {
		v.deleted = make([]uint64, (len(v.seg.keys)+63)/64)
	}
	v.deleted[ord>>6] |= 1 << (ord & 63)
	v.live--
}

// Snapshot is an index at one moment. It never changes and may be read by many
// at once.
type Snapshot struct {
	opts    Options
	views   []*view // ascending keys
	nextKey uint64

	live  int
	docs  int     // that count in the statistics
	avg   float32 // tokens per chunk
	floor func() float64
}

func newSnapshot(o Options, views []*view, nextKey uint64) *Snapshot {
	s := &Snapshot{opts: o, nextKey: nextKey, views: make([]*view, 0, len(views))}
	tokens := uint64(0)
	for _, v := range views {
		if v.live == 0 {
			continue
		}
		c := *v
		s.views = append(s.views, &c)
		s.live += v.live
		s.docs += v.seg.statisticDocs(o.Variant)
		tokens += v.seg.tokens
	}
	if s.docs > 0 {
		s.avg = float32(float64(tokens) / float64(s.docs))
	}
	for _, v := range s.views {
		v.inverse = make([]float32, len(v.seg.eff))
		for norm, length := range v.seg.eff {
			v.inverse[norm] = inverseNorm(o, length, s.avg)
		}
	}
	s.floor = sync.OnceValue(s.okapiFloor)
	return s
}

// Docs is the number of live chunks.
func (s *Snapshot) Docs() int { return s.live }

// Bytes is the memory that the snapshot's segments take.
func (s *Snapshot) Bytes() int64 {
	n := int64(0)
	for _, v := range s.views {
		n += v.seg.bytes() + int64(8*len(v.deleted)+4*len(v.inverse))
	}
	return n
}

// Keys are the live chunks.
func (s *Snapshot) Keys() *roaring.Bitmap {
	out := roaring.New()
	for _, v := range s.views {
		if v.deleted == nil {
			out.AddMany(v.seg.keys)
			continue
		}
		for ord, key := range v.seg.keys {
			if v.isLive(uint32(ord)) {
				out.Add(key)
			}
		}
	}
	return out
}

// Stats are what scores are computed from: the number of chunks with a token (in
// Okapi, of all chunks), their average length, and each term's document
// frequency. Chunks deleted and not yet merged away count.
func (s *Snapshot) Stats(terms []string) (docs int, avgLen float64, df []int) {
	df = make([]int, len(terms))
	for i, t := range terms {
		for _, v := range s.views {
			if id := v.seg.dict.find(t); id >= 0 {
				df[i] += int(v.seg.terms[id].df)
			}
		}
	}
	return s.docs, float64(s.avg), df
}
