package bm25

import "slices"

// fanIn views of one tier are merged into one of a higher tier, so a chunk is
// rewritten at most once per tier, however large its index grows. Views of the last
// tier are not merged: merging such large ones takes seconds, and saves a search
// nothing.
const (
	fanIn     = 4
	firstTier = 64 // chunks
	lastTier  = 7  // from firstTier * fanIn^6 = 262,144 chunks on
)

// tier is the size class of a view; a view of tier t, which is not 0, has at least
// firstTier * fanIn^(t-1) chunks.
func (v *view) tier() int {
	t := 0
	for n := v.live / firstTier; n > 0 && t < lastTier; n /= fanIn {
		t++
	}
	return t
}

// mergeable finds neighbours worth merging: the newest run that has fanIn views of
// its highest tier, or one view of which half is deleted.
func mergeable(views []*view) (from, to int, ok bool) {
	top, highest := 0, 0 // the highest tier of the run, and how many views are of it
	for i := len(views) - 1; i >= 0; i-- {
		t := views[i].tier()
		if t == lastTier {
			break
		}
		if t > top {
			top, highest = t, 0
		}
		if t == top {
			highest++
		}
		whole := i == 0 || views[i-1].tier() > top
		if whole && highest >= fanIn && fits(views[i:]) {
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
	base uint32   // the new ordinal of the first chunk, when none is deleted
	ords []uint32 // else old → new ordinal, dropped for deleted chunks

	docs, freqs [blockSize]uint32
	gaps        []uint32
}

const dropped = ^uint32(0)

// mergeViews gives nil when nothing is left alive; ok is false when the result
// would exceed a segment's limits.
func mergeViews(views []*view, o Options) (seg *segment, ok bool) {
	var keys, lengths []uint32
	m := &merger{walk: newDictionaryWalk(views)}
	for _, v := range views {
		src := &mergeSource{seg: v.seg, base: uint32(len(keys))}
		m.sources = append(m.sources, src)
		if v.deleted == nil {
			keys, lengths = append(keys, v.seg.keys...), append(lengths, v.seg.lengths...)
			continue
		}
		src.ords = make([]uint32, len(v.seg.keys))
		for ord, key := range v.seg.keys {
			src.ords[ord] = dropped
			if v.isLive(uint32(ord)) {
				src.ords[ord] = uint32(len(keys))
				keys = append(keys, key)
				lengths = append(lengths, v.seg.lengths[ord])
			}
		}
	}
	if len(keys) == 0 {
		return nil, true
	}
	if seg, ok = newSegment(o.Variant, keys, lengths); !ok {
		return nil, false
	}
	m.enc = newEncoder(seg, !o.WithoutPositions)
	m.enc.reserve(views)
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
		s.decodeGaps(i, n)
		if s.ords != nil {
			n = s.dropDeleted(n)
		} else {
			for j := range n {
				s.docs[j] += s.base
			}
		}
		enc.addAll(s.docs[:n], s.freqs[:n], s.gaps)
	}
}

// decodeGaps reads the gaps between the positions of a block's n postings, one
// posting after the other.
func (s *mergeSource) decodeGaps(i, n int) {
	if s.seg.positions == nil {
		return
	}
	total := sum(s.freqs[:n])
	s.gaps = slices.Grow(s.gaps[:0], total)[:total]
	b := &s.seg.blocks[i]
	unpack(s.gaps, s.seg.positions[b.position:], b.posBits)
}

// dropDeleted renumbers the n postings decoded and closes up over the deleted
// ones; it gives how many are left.
func (s *mergeSource) dropDeleted(n int) int {
	kept, gaps, rest := 0, s.gaps[:0], s.gaps
	for j := range n {
		freq := s.freqs[j]
		own := rest[:min(int(freq), len(rest))] // none without positions
		rest = rest[len(own):]
		if ord := s.ords[s.docs[j]]; ord != dropped {
			s.docs[kept], s.freqs[kept] = ord, freq
			kept++
			gaps = append(gaps, own...)
		}
	}
	s.gaps = gaps
	return kept
}

func sum(values []uint32) int {
	n := 0
	for _, v := range values {
		n += int(v)
	}
	return n
}
