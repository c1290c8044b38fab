package bm25

// fanIn is how many neighbouring segments of one tier are merged into one of the
// next tier; a tier holds segments up to fanIn times larger than the one below.
const (
	fanIn     = 8
	firstTier = 1000 // chunks
)

// tier is the size class of a view.
func (v *view) tier() int {
	t := 0
	for n := v.live / firstTier; n > 0; n /= fanIn {
		t++
	}
	return t
}

// mergeable finds neighbours worth merging: the newest run of fanIn views of
// one tier or lower, or one view of which half is deleted.
func mergeable(views []*view) (from, to int, ok bool) {
	top := 0
	for i := len(views) - 1; i >= 0; i-- {
		top = max(top, views[i].tier())
		whole := i == 0 || views[i-1].tier() > top
		if whole && len(views)-i >= fanIn && fits(views[i:]) {
			return i, len(views), true
		}
	}
	for i, v := range views {
		if v.live < len(v.seg.keys) && 2*v.live <= len(v.seg.keys) {
			return i, i + 1, true
		}
	}
	return 0, 0, false
}

// fits reports whether the views can be one segment.
func fits(views []*view) bool {
	var tokens, text uint64
	for _, v := range views {
		tokens += v.seg.tokens
		text += uint64(len(v.seg.dict.text))
	}
	return tokens < maxSegmentTokens && text < maxSegmentText
}

// merger writes the live chunks of several views as one segment.
type merger struct {
	enc     *encoder
	sources []*mergeSource
	walk    *dictionaryWalk
}

// mergeSource decodes the postings of one view.
type mergeSource struct {
	seg  *segment
	ords []uint32 // old → new ordinal, dropped for deleted chunks

	docs, freqs [blockSize]uint32
	positions   []uint32
}

const dropped = ^uint32(0)

// mergeViews gives nil when nothing is left alive; ok is false when the result
// would exceed a segment's limits.
func mergeViews(views []*view, o Options) (seg *segment, ok bool) {
	var keys, lengths []uint32
	m := &merger{walk: newDictionaryWalk(views)}
	for _, v := range views {
		src := &mergeSource{seg: v.seg, ords: make([]uint32, len(v.seg.keys))}
		for ord, key := range v.seg.keys {
			src.ords[ord] = dropped
			if v.isLive(uint32(ord)) {
				src.ords[ord] = uint32(len(keys))
				keys = append(keys, key)
				lengths = append(lengths, v.seg.lengths[ord])
			}
		}
		m.sources = append(m.sources, src)
	}
	if len(keys) == 0 {
		return nil, true
	}
	if seg, ok = newSegment(o.Variant, keys, lengths); !ok {
		return nil, false
	}
	m.enc = newEncoder(seg, !o.WithoutPositions)
	for m.mergeTerm() {
	}
	return m.enc.finish(), true
}

// mergeTerm writes the lowest term not yet written; false when there is none.
func (m *merger) mergeTerm() bool {
	holders, ok := m.walk.next()
	if !ok {
		return false
	}
	for _, i := range holders {
		m.sources[i].copyTerm(m.enc, m.walk.at[i]-1)
	}
	m.enc.endTerm(m.walk.term)
	return true
}

func (s *mergeSource) copyTerm(enc *encoder, term int) {
	first, end := int(s.seg.terms[term].first), int(s.seg.terms[term+1].first)
	for i := first; i < end; i++ {
		n := s.seg.decodeOrdinals(&s.docs, i, i == first)
		s.seg.decodeFreqs(&s.freqs, i)
		rest := s.decodePositions(i, n)
		for j := range n {
			var positions []uint32
			if enc.withPositions {
				positions, rest = rest[:s.freqs[j]], rest[s.freqs[j]:]
			}
			if ord := s.ords[s.docs[j]]; ord != dropped {
				enc.add(ord, s.freqs[j], positions)
			}
		}
	}
}

// decodePositions gives the positions of a block's n postings, one after the other.
func (s *mergeSource) decodePositions(i, n int) []uint32 {
	if s.seg.positions == nil {
		return nil
	}
	total := 0
	for _, f := range s.freqs[:n] {
		total += int(f)
	}
	if cap(s.positions) < total {
		s.positions = make([]uint32, total)
	}
	out := s.positions[:total]
	b := &s.seg.blocks[i]
	unpack(out, s.seg.positions[b.position:], b.posBits)
	at := 0
	for _, f := range s.freqs[:n] {
		restorePositions(out[at : at+int(f)])
		at += int(f)
	}
	return out
}

// restorePositions turns the gaps of one posting into positions.
func restorePositions(gaps []uint32) {
	next := uint32(0)
	for i, gap := range gaps {
		gaps[i] = next + gap
		next = gaps[i] + 1
	}
}
