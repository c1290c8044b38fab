package bm25

import (
	"math/bits"
	"slices"
)

// freeLengths is how many lengths have a byte of their own before the rounded
// ones begin: Lucene's SmallFloat.NUM_FREE_VALUES.
const freeLengths = 24

// encodeLength is Lucene's SmallFloat.intToByte4: lengths to 39 are exact,
// longer ones keep four significant bits.
func encodeLength(n uint32) uint8 {
	if n < freeLengths {
		return uint8(n)
	}
	n = min(n, 1<<31-1) - freeLengths
	width := bits.Len32(n)
	if width < 4 {
		return uint8(freeLengths + n)
	}
	shift := width - 4
	return uint8(freeLengths + (n>>shift)&7 + uint32(shift+1)<<3)
}

// decodeLength is Lucene's SmallFloat.byte4ToInt.
func decodeLength(code uint8) uint32 {
	if code < freeLengths {
		return uint32(code)
	}
	code -= freeLengths
	if code < 8 {
		return freeLengths + uint32(code)
	}
	return freeLengths + (uint32(code)&7|8)<<(code>>3-1)
}

// effectiveLength is the field length that a variant scores by.
func (v Variant) effectiveLength(tokens uint32) uint32 {
	if v == Okapi {
		return tokens
	}
	return decodeLength(encodeLength(tokens))
}

// makeNorms gives each chunk the index of its effective length in the ascending
// table of distinct ones, so a lower norm is a shorter chunk. It fails when there
// are more distinct lengths than a norm can count.
func makeNorms(v Variant, lengths []uint32) (norms []uint16, table []uint32, ok bool) {
	distinct := make(map[uint32]uint16)
	for _, n := range lengths {
		distinct[v.effectiveLength(n)] = 0
	}
	if len(distinct) > 1<<16 {
		return nil, nil, false
	}
	for n := range distinct {
		table = append(table, n)
	}
	slices.Sort(table)
	for i, n := range table {
		distinct[n] = uint16(i)
	}
	norms = make([]uint16, len(lengths))
	for i, n := range lengths {
		norms[i] = distinct[v.effectiveLength(n)]
	}
	return norms, table, true
}
