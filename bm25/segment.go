package bm25

import "sort"

// blockSize is the number of postings in a block but the last of a term.
const blockSize = 128

// segment is an immutable part of the index. A chunk is known by its ordinal,
// its place in the ascending keys.
type segment struct {
	keys     []uint32 // ordinal → key
	lengths  []uint32 // ordinal → number of tokens
	norms    []uint16 // ordinal → index into effective
	eff      []uint32 // norm → effective length, ascending
	tokens   uint64   // Σ lengths
	nonEmpty int      // chunks with at least one token

	dict   dictionary
	terms  []termEntry // in the dictionary's order, and one more that ends the last
	blocks []block

	postings  []byte // per block: gaps between ordinals, then frequencies
	positions []byte // per block: gaps between positions; nil without positions
}

// termEntry is a term's document frequency and the first of its blocks.
type termEntry struct{ df, first uint32 }

// block is up to blockSize postings of one term.
type block struct {
	postings uint64 // offsets into the segment's byte slices
	position uint64
	last     uint32 // the highest ordinal
	maxFreq  uint32
	minNorm  uint16 // of all postings
	topNorm  uint16 // of those with a frequency over maxFreq/2
	n        uint8
	gapBits  uint8 // widths of the packed values
	freqBits uint8
	posBits  uint8
}

// gapLen and freqLen are the sizes of a block's packed values.
func (b *block) gapLen() int  { return packedLen(int(b.n), b.gapBits) }
func (b *block) freqLen() int { return packedLen(int(b.n), b.freqBits) }

// posLen is the size of a block's positions.
func (b *block) posLen(freqs []uint32) uint64 {
	n := uint64(0)
	for _, f := range freqs {
		n += uint64(f)
	}
	return (n*uint64(b.posBits) + 7) / 8
}

// setLimits takes from the postings what bounds the block's scores.
func (b *block) setLimits(ordinals, freqs []uint32, norms []uint16) {
	b.maxFreq, b.minNorm, b.topNorm = 0, ^uint16(0), ^uint16(0)
	for i, f := range freqs {
		b.maxFreq = max(b.maxFreq, f)
		b.minNorm = min(b.minNorm, norms[ordinals[i]])
	}
	if b.maxFreq == 1 {
		b.topNorm = b.minNorm
		return
	}
	for i, f := range freqs {
		if f > b.maxFreq/2 {
			b.topNorm = min(b.topNorm, norms[ordinals[i]])
		}
	}
}

// limit is the highest score that a posting of the block can have: a low
// frequency in the shortest chunk or a high one in the shortest of those, or 0
// without it when the weight is negative (Okapi).
func (b *block) limit(s scale) float32 {
	return max(0, s.score(float32(b.maxFreq/2), b.minNorm), s.score(float32(b.maxFreq), b.topNorm))
}

// newSegment sets the parts that do not depend on the terms; false when a limit
// is exceeded.
func newSegment(v Variant, keys, lengths []uint32) (*segment, bool) {
	s := &segment{keys: keys, lengths: lengths}
	for _, n := range lengths {
		s.tokens += uint64(n)
		if n > 0 {
			s.nonEmpty++
		}
	}
	var ok bool
	s.norms, s.eff, ok = makeNorms(v, lengths)
	return s, ok
}

// ordinal finds a key's place; false when the segment does not hold it.
func (s *segment) ordinal(key uint32) (uint32, bool) {
	i := sort.Search(len(s.keys), func(i int) bool { return s.keys[i] >= key })
	return uint32(i), i < len(s.keys) && s.keys[i] == key
}

// bytes is the memory the segment holds.
func (s *segment) bytes() int64 {
	const entry, blk = 8, 32
	return int64(4*len(s.keys) + 4*len(s.lengths) + 2*len(s.norms) + 4*len(s.eff) +
		len(s.dict.text) + 4*(len(s.dict.ends)+len(s.dict.slots)) + entry*len(s.terms) + blk*len(s.blocks) +
		len(s.postings) + len(s.positions))
}

// decodeOrdinals unpacks the ordinals of block i; first says that it is the
// first block of its term.
func (s *segment) decodeOrdinals(dst *[blockSize]uint32, i int, first bool) int {
	b := &s.blocks[i]
	out := dst[:b.n]
	unpack(out, s.postings[b.postings:], b.gapBits)
	prev := ^uint32(0) // the gap before ordinal 0 is 0
	if !first {
		prev = s.blocks[i-1].last
	}
	for j, gap := range out {
		prev += gap + 1
		out[j] = prev
	}
	return len(out)
}

// decodeFreqs unpacks the frequencies of block i.
func (s *segment) decodeFreqs(dst *[blockSize]uint32, i int) {
	b := &s.blocks[i]
	out := dst[:b.n]
	unpack(out, s.postings[b.postings+uint64(b.gapLen()):], b.freqBits)
	for j := range out {
		out[j]++
	}
}
