package bm25

import "math"

// cursor reads the postings of one term of one segment, forwards only. Blocks
// are decoded when they are needed, frequencies and positions only on a match.
type cursor struct {
	seg        *segment
	first, end int // the term's blocks
	at         int // the current block
	decoded    int // the block in ordinals, -1 for none
	counted    int // the block in freqs
	placed     int // the block in starts
	n, i       int // postings in ordinals, the current one
	df         uint32
	ordinals   [blockSize]uint32
	freqs      [blockSize]uint32
	starts     [blockSize]uint32 // of the postings' positions in the block
}

func newCursor(seg *segment, term int) *cursor {
	first := int(seg.terms[term].first)
	return &cursor{
		seg: seg, df: seg.terms[term].df, first: first, at: first, end: int(seg.terms[term+1].first),
		decoded: -1, counted: -1, placed: -1,
	}
}

// seek moves to the first block that reaches ord; false behind the last.
func (c *cursor) seek(ord uint32) bool {
	for c.at < c.end && c.seg.blocks[c.at].last < ord {
		c.at++
	}
	return c.at < c.end
}

// decode unpacks the ordinals of the current block, once.
func (c *cursor) decode() {
	if c.decoded == c.at {
		return
	}
	c.n = c.seg.decodeOrdinals(&c.ordinals, c.at, c.at == c.first)
	c.decoded, c.i = c.at, 0
	for i := c.n; i < blockSize; i++ {
		c.ordinals[i] = math.MaxUint32 // so that search need not know n
	}
}

// count unpacks the frequencies of the current block, once.
func (c *cursor) count() {
	if c.counted != c.at {
		c.seg.decodeFreqs(&c.freqs, c.at)
		c.counted = c.at
	}
}

// next moves to the first posting at or behind ord.
func (c *cursor) next(ord uint32) (uint32, bool) {
	if !c.seek(ord) {
		return 0, false
	}
	c.decode()
	c.i = lowerBound(&c.ordinals, ord)
	return c.ordinals[c.i], true
}

// step moves to the posting after the current one.
func (c *cursor) step() (uint32, bool) {
	if c.i++; c.i == c.n {
		if c.at++; c.at == c.end {
			return 0, false
		}
		c.decode()
	}
	return c.ordinals[c.i], true
}

// find moves to ord and reports whether the term is in it.
func (c *cursor) find(ord uint32) bool {
	found, ok := c.next(ord)
	return ok && found == ord
}

// lowerBound is the first index with a value >= ord, which must exist.
func lowerBound(ordinals *[blockSize]uint32, ord uint32) int {
	i := 0
	for step := blockSize / 2; step > 0; step /= 2 {
		if ordinals[(i+step-1)&(blockSize-1)] < ord {
			i += step
		}
	}
	return i & (blockSize - 1)
}

// freq is the frequency at the current posting.
func (c *cursor) freq() uint32 {
	b := &c.seg.blocks[c.at]
	return packedAt(c.seg.postings[b.postings+uint64(b.gapLen()):], c.i, b.freqBits) + 1
}

// appendPositions appends the positions of the current posting.
func (c *cursor) appendPositions(dst []uint32) []uint32 {
	c.count()
	if c.placed != c.at {
		c.place()
	}
	b := &c.seg.blocks[c.at]
	packed := c.seg.positions[b.position:]
	next := uint32(0)
	for i := c.starts[c.i]; i < c.starts[c.i]+c.freqs[c.i]; i++ {
		p := next + packedAt(packed, int(i), b.posBits)
		dst = append(dst, p)
		next = p + 1
	}
	return dst
}

// place finds where the positions of each posting of the block start.
func (c *cursor) place() {
	start := uint32(0)
	for i, f := range c.freqs[:c.n] {
		c.starts[i] = start
		start += f
	}
	c.placed = c.at
}

// bound is the highest score that a posting in [lo, hi) can have; ok is false
// when there is none.
func (c *cursor) bound(lo, hi uint32, s scale) (best float32, ok bool) {
	if !c.seek(lo) {
		return 0, false
	}
	blocks := c.seg.blocks
	for i := c.at; i < c.end && (i == c.at || blocks[i-1].last < hi-1); i++ {
		best = max(best, blocks[i].limit(s))
	}
	return best, true
}

// extremes are the highest frequency and the lowest norm of the blocks that reach
// into [lo, hi); ok is false when there is none.
func (c *cursor) extremes(lo, hi uint32) (freq uint32, norm uint16, ok bool) {
	if !c.seek(lo) {
		return 0, 0, false
	}
	norm = ^norm
	blocks := c.seg.blocks
	for i := c.at; i < c.end && (i == c.at || blocks[i-1].last < hi-1); i++ {
		freq, norm = max(freq, blocks[i].maxFreq), min(norm, blocks[i].minNorm)
	}
	return freq, norm, true
}

// below is the number of decoded postings before hi.
func (c *cursor) below(hi uint32) int {
	if c.seg.blocks[c.at].last < hi {
		return c.n
	}
	return lowerBound(&c.ordinals, hi)
}

// scale turns frequencies into scores.
type scale struct {
	weight  float32   // boost·(k1+1)·idf
	inverse []float32 // of the view, by norm
}

// score is weight·freq/(freq + k1·(1-b+b·length/average)) in Lucene's form, which
// is monotonic in both under rounding.
func (s scale) score(freq float32, norm uint16) float32 {
	return s.weight - s.weight/(1+float32(freq*s.inverse[norm]))
}
