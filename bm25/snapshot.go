package bm25

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// view is a segment with its deleted chunks as one snapshot sees them.
type view struct {
	seg     *segment
	deleted []uint64  // a bit per ordinal; nil when none is deleted
	live    int       // chunks not deleted
	lost    statistic // what the deleted chunks count for
	inverse []float32 // norm → 1/(k1·(1-b+b·length/average)), set by newSnapshot
}

// statistic is what some chunks of a segment add to the index's statistics.
type statistic struct {
	chunks, nonEmpty int
	tokens           uint64
}

func newView(seg *segment) *view { return &view{seg: seg, live: len(seg.keys)} }

// newDeletedView is a view of a segment with the chunks of these bits deleted.
func newDeletedView(seg *segment, deleted []uint64) *view {
	v := newView(seg)
	eachBit(deleted, v.remove)
	return v
}

// eachBit visits the set bits in ascending order.
func eachBit(words []uint64, visit func(uint32)) {
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			visit(uint32(i<<6 + bits.TrailingZeros64(word)))
		}
	}
}

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
	v.lost.chunks++
	v.lost.tokens += uint64(v.seg.lengths[ord])
	if v.seg.lengths[ord] > 0 {
		v.lost.nonEmpty++
	}
}

// counted is what the view adds to the statistics.
func (v *view) counted(o Options) statistic {
	s := statistic{chunks: len(v.seg.keys), nonEmpty: v.seg.nonEmpty, tokens: v.seg.tokens}
	if o.LiveStatistics {
		s.chunks -= v.lost.chunks
		s.nonEmpty -= v.lost.nonEmpty
		s.tokens -= v.lost.tokens
	}
	return s
}

// df is the number of chunks with a term that count in the statistics.
func (v *view) df(term int, o Options) int {
	df := int(v.seg.terms[term].df)
	if !o.LiveStatistics || v.deleted == nil {
		return df
	}
	return df - v.lostDF(term)
}

// lostDF is the number of deleted chunks with a term. It goes through the
// postings or through the deleted chunks, whichever are fewer.
func (v *view) lostDF(term int) (n int) {
	c := newCursor(v.seg, term)
	if int(c.df) < 4*v.lost.chunks {
		for ord, ok := c.next(0); ok; ord, ok = c.step() {
			if !v.isLive(ord) {
				n++
			}
		}
		return n
	}
	eachBit(v.deleted, func(ord uint32) {
		if c.find(ord) {
			n++
		}
	})
	return n
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

// NextKey is the lowest key that may be added to the index.
func (s *Snapshot) NextKey() uint64 { return s.nextKey }

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
		counted := v.counted(o)
		s.docs += counted.docs(o.Variant)
		tokens += counted.tokens
	}
	if s.docs > 0 {
		s.avg = float32(float64(tokens) / float64(s.docs))
	}
	for _, v := range s.views {
		v.inverse = v.inverses(o, s.avg)
	}
	s.floor = sync.OnceValue(s.okapiFloor)
	return s
}

// inverses are inverseNorm of all lengths in a view.
func (v *view) inverses(o Options, average float32) []float32 {
	table := make([]float32, len(v.seg.eff))
	for norm, length := range v.seg.eff {
		table[norm] = inverseNorm(o, length, average)
	}
	return table
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
// frequency. Chunks deleted and not yet merged away count, unless
// Options.LiveStatistics is set.
func (s *Snapshot) Stats(terms []string) (docs int, avgLen float64, df []int) {
	df = make([]int, len(terms))
	for i, t := range terms {
		for _, v := range s.views {
			if id := v.seg.dict.find(t); id >= 0 {
				df[i] += v.df(id, s.opts)
			}
		}
	}
	return s.docs, float64(s.avg), df
}
