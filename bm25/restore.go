package bm25

import "slices"

// restorer rebuilds the block table of a stored segment by decoding all
// postings, which also proves that every later access stays inside.
type restorer struct {
	seg    *segment
	widths []byte

	postings, position uint64   // offsets of the next block
	tokens             []uint32 // per chunk, the occurrences seen
	ordinals, freqs    [blockSize]uint32
}

// restore reports whether the postings fit the chunks and the byte slices.
func (r *restorer) restore() bool {
	s := r.seg
	if len(s.postings) < padding || s.positions != nil && len(s.positions) < padding {
		return false
	}
	r.tokens = make([]uint32, len(s.keys))
	for t := range s.dict.len() {
		left := int(s.terms[t].df)
		first := int(s.terms[t].first)
		for i := first; left > 0; i++ {
			n := min(left, blockSize)
			if !r.block(i, n, i == first) {
				return false
			}
			left -= n
		}
	}
	return slices.Equal(r.tokens, s.lengths) &&
		r.postings == uint64(len(s.postings)-padding) &&
		(s.positions == nil || r.position == uint64(len(s.positions)-padding))
}

// block fills in block i, of n postings.
func (r *restorer) block(i, n int, first bool) bool {
	s := r.seg
	b := &s.blocks[i]
	w := r.widths[3*i : 3*i+3]
	*b = block{
		postings: r.postings, position: r.position,
		n: uint8(n), gapBits: w[0], freqBits: w[1], posBits: w[2],
	}
	if max(w[0], w[1], w[2]) > 32 || s.positions != nil && w[2] == 0 {
		return false
	}
	r.postings += uint64(b.gapLen() + b.freqLen())
	if r.postings > uint64(len(s.postings)-padding) {
		return false
	}
	s.decodeOrdinals(&r.ordinals, i, first)
	s.decodeFreqs(&r.freqs, i)
	if !r.check(b, i, first) {
		return false
	}
	if s.positions == nil {
		return true
	}
	r.position += b.posLen(r.freqs[:n])
	return r.position <= uint64(len(s.positions)-padding)
}

// check verifies the decoded postings and takes the block's bounds from them.
func (r *restorer) check(b *block, i int, first bool) bool {
	s := r.seg
	for j, ord := range r.ordinals[:b.n] {
		ascends := j > 0 && ord > r.ordinals[j-1] || j == 0 && (first || ord > s.blocks[i-1].last)
		if !ascends || int(ord) >= len(s.keys) {
			return false
		}
		freq := r.freqs[j]
		if freq == 0 || freq > s.lengths[ord]-r.tokens[ord] {
			return false
		}
		r.tokens[ord] += freq
		b.last = ord
	}
	b.setLimits(r.ordinals[:b.n], r.freqs[:b.n], s.norms)
	return true
}
