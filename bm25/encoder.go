package bm25

// encoder writes the terms of a segment, in ascending order, each with its
// postings in ascending order.
type encoder struct {
	seg           *segment
	withPositions bool

	df    uint32
	first uint32 // the current term's first block
	last  uint32 // the highest ordinal of the block before, ^0 before the first
	n     int    // postings in the block begun
	ords  [blockSize]uint32
	freqs [blockSize]uint32
	gaps  [blockSize]uint32
	pos   []uint32 // gaps between positions, of the whole block
}

func newEncoder(seg *segment, withPositions bool) *encoder {
	return &encoder{seg: seg, withPositions: withPositions, last: ^uint32(0)}
}

// add appends a posting; positions are ascending and may be nil when the index
// keeps none.
func (e *encoder) add(ord, freq uint32, positions []uint32) {
	e.ords[e.n], e.freqs[e.n] = ord, freq
	e.n++
	e.df++
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

// addAll appends postings; gaps are those between the positions, posting after
// posting, and ignored when the index keeps no positions.
func (e *encoder) addAll(ords, freqs, gaps []uint32) {
	e.df += uint32(len(ords))
	for len(ords) > 0 {
		n := copy(e.ords[e.n:], ords)
		copy(e.freqs[e.n:], freqs[:n])
		if e.withPositions {
			held := sum(freqs[:n])
			e.pos = append(e.pos, gaps[:held]...)
			gaps = gaps[held:]
		}
		ords, freqs = ords[n:], freqs[n:]
		if e.n += n; e.n == blockSize {
			e.flush()
		}
	}
}

// reserve makes room for what the views hold, which is about what a merge needs.
func (e *encoder) reserve(views []*view) {
	postings, positions, text, terms := 0, 0, 0, 0
	for _, v := range views {
		postings += len(v.seg.postings)
		positions += len(v.seg.positions)
		text = max(text, len(v.seg.dict.text))
		terms = max(terms, v.seg.dict.len())
	}
	s := e.seg
	s.postings = make([]byte, 0, postings)
	s.dict.text, s.dict.ends = make([]byte, 0, text), make([]uint32, 0, terms)
	s.terms = make([]termEntry, 0, terms+1)
	if e.withPositions {
		s.positions = make([]byte, 0, positions)
	}
}

// flush writes the block begun.
func (e *encoder) flush() {
	if e.n == 0 {
		return
	}
	s := e.seg
	ords, freqs, gaps := e.ords[:e.n], e.freqs[:e.n], e.gaps[:e.n]
	b := block{n: uint8(e.n), postings: uint64(len(s.postings)), position: uint64(len(s.positions))}
	b.setLimits(ords, freqs, s.norms)
	for i, ord := range ords {
		gaps[i] = ord - e.last - 1
		freqs[i]--
		e.last = ord
	}
	b.last = e.last
	b.gapBits, b.freqBits = widthOf(gaps), widthOf(freqs)
	s.postings = appendPacked(s.postings, gaps, b.gapBits)
	s.postings = appendPacked(s.postings, freqs, b.freqBits)
	if e.withPositions {
		b.posBits = max(1, widthOf(e.pos)) // so that a file cannot claim positions it does not hold
		s.positions = appendPacked(s.positions, e.pos, b.posBits)
	}
	s.blocks = append(s.blocks, b)
	e.n, e.pos = 0, e.pos[:0]
}

// endTerm closes the current term; one without postings is left out.
func (e *encoder) endTerm(text []byte) {
	e.flush()
	if e.df > 0 {
		e.seg.dict.append(text)
		e.seg.terms = append(e.seg.terms, termEntry{df: e.df, first: e.first})
	}
	e.df, e.last, e.first = 0, ^uint32(0), uint32(len(e.seg.blocks))
}

// finish closes the segment.
func (e *encoder) finish() *segment {
	s := e.seg
	s.terms = append(s.terms, termEntry{first: uint32(len(s.blocks))})
	s.dict.index()
	var pad [padding]byte
	s.postings = append(s.postings, pad[:]...)
	if e.withPositions {
		s.positions = append(s.positions, pad[:]...)
	}
	return s
}
