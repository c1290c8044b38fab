package tokens

import (
	"math/bits"
	"unicode/utf8"
)

// prefixFilter holds the first three bytes of ASCII words. Of each byte it looks at the
// lowest five bits, which are the same for both cases of a letter.
type prefixFilter struct {
	thirds  [32 << 5]uint32 // by the first two bytes: the possible third, a bit for each
	seconds [32]uint32      // by the first byte: the possible second
}

// noPrefixes is the filter of no words. It saves 4 KB for a question without ASCII.
var noPrefixes prefixFilter

// add adds the prefixes of all words whose stem may begin with a part. A stem begins with
// the first three letters of its word, or has fewer; but where one has an i, y or e, the
// other may have another of these: dying and die, cry and cri, using and use.
func (f *prefixFilter) add(part string) {
	second, third := anyByte, anyByte
	if len(part) > 1 {
		second = unstemmed(part[1])
	}
	if len(part) > 2 {
		third = unstemmed(part[2])
	}
	first := part[0] & 31
	f.seconds[first] |= second
	for ; second != 0; second &= second - 1 {
		f.thirds[pairIndex(first, byte(bits.TrailingZeros32(second)))] |= third
	}
}

const anyByte uint32 = 1<<32 - 1

// unstemmed is the set of bytes that a word may have where its stem has b.
func unstemmed(b byte) uint32 {
	const vowels = 1<<('i'&31) | 1<<('y'&31) | 1<<('e'&31)
	if bit := uint32(1) << (b & 31); bit&vowels == 0 {
		return bit
	}
	return vowels
}

// mayBegin reports whether these three bytes of ASCII may begin a word. Bytes after the
// end of a short word do not matter.
func (f *prefixFilter) mayBegin(first, second, third byte) bool {
	return f.mayFollow(pairIndex(first, second), third)
}

// pairIndex is the index in thirds of two bytes.
func pairIndex(first, second byte) uint32 { return uint32(first&31)<<5 | uint32(second&31) }

// mayFollow is mayBegin for the first two bytes as a pairIndex.
func (f *prefixFilter) mayFollow(pair uint32, third byte) bool {
	return f.thirds[pair&(1<<10-1)]>>(third&31)&1 != 0
}

// match reports whether a folded byte of ASCII followed by unfolded text may begin a
// word. What is not ASCII may fold to anything.
func (f *prefixFilter) match(first byte, rest string) bool {
	switch {
	case len(rest) == 0:
		return f.mayBegin(first, 0, 0)
	case rest[0] >= utf8.RuneSelf:
		return f.seconds[first&31] != 0
	case len(rest) == 1:
		return f.mayBegin(first, rest[0], 0)
	case rest[1] >= utf8.RuneSelf:
		return f.thirds[pairIndex(first, rest[0])] != 0
	}
	return f.mayBegin(first, rest[0], rest[1])
}
