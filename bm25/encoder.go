package bm25

// encoder writes the terms of a segment, in ascending order, each with its
// postings in ascending order.
type encoder struct {
	seg           *segment
	withPositions bool

	df    uint32
	first uint32 // the current term's first block
	prev  uint32 // the last ordinal written, ^0 before the first
	n     int
	gaps  [blockSize]uint32
	freqs [blockSize]uint32 // less one
	pos   []uint32          // gaps between positions, of the whole block
	block block             // bounds of the block so far
}

func newEncoder(seg *segment, withPositions bool) *encoder {
	e := &encoder{seg: seg, withPositions: withPositions, prev: ^uint32(0)}
	e.resetBlock()
	return e
}

func (e *encoder) resetBlock() {
	e.n, e.pos = 0, e.pos[:0]
	e.block = block{minNorm: ^uint16(0)}
}

// add appends a posting; positions are ascending and may be nil when the index
// keeps none.
func (e *encoder) add(ord, freq uint32, positions []uint32) {
	e.gaps[e.n] = ord - e.prev - 1
	e.freqs[e.n] = freq - 1
	e.n++
	e.df++
	e.prev = ord
	e.block.maxFreq = max(e.block.maxFreq, freq)
	e.block.minNorm = min(e.block.minNorm, e.seg.norms[ord])
	if e.withPositions {
		next := uint32(0)
		for _, p := range positions {
			e.pos = append(e.pos, p-next)
			next = p + 1
		}
	}
	if e.n == blockSize {
		e.flush()
	}
}

// flush writes the block begun.
func (e *encoder) flush() {
	if e.n == 0 {
		return
	}
	b, s := e.block, e.seg
	gaps, freqs := e.gaps[:e.n], e.freqs[:e.n]
	b.n, b.last = uint8(e.n), e.prev
	b.gapBits, b.freqBits = widthOf(gaps), widthOf(freqs)
	b.postings, b.position = uint64(len(s.postings)), uint64(len(s.positions))
	s.postings = appendPacked(s.postings, gaps, b.gapBits)
	s.postings = appendPacked(s.postings, freqs, b.freqBits)
	if e.withPositions {
		b.posBits = max(1, widthOf(e.pos)) // so that a file cannot claim positions it does not hold
		s.positions = appendPacked(s.positions, e.pos, b.posBits)
	}
	s.blocks = append(s.blocks, b)
	e.resetBlock()
}

// endTerm closes the current term; one without postings is left out.
func (e *encoder) endTerm(text []byte) {
	e.flush()
	if e.df > 0 {
		e.seg.dict.append(text)
		e.seg.terms = append(e.seg.terms, termEntry{df: e.df, first: e.first})
	}
	e.df, e.prev, e.first = 0, ^uint32(0), uint32(len(e.seg.blocks))
}

// finish closes the segment.
func (e *encoder) finish() *segment {
	s := e.seg
	s.terms = append(s.terms, termEntry{first: uint32(len(s.blocks))})
	var pad [padding]byte
	s.postings = append(s.postings, pad[:]...)
	if e.withPositions {
		s.positions = append(s.positions, pad[:]...)
	}
	return s
}
