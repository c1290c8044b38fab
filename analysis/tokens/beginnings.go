package tokens

import (
	"math/bits"
	"unicode/utf8"
)

// beginnings knows the first three bytes of ASCII words: by the lowest five bits of
// the first and of the second, in which the cases of a letter are the same, the
// possible five of the third.
type beginnings struct {
	thirds  [32 << 5]uint32
	seconds [32]uint32 // by the first
}

// noBeginnings are those of no words: four kilobytes less for a question without ASCII.
var noBeginnings beginnings

// add notes how the words begin that may give a part. A stem begins with the first
// three letters of its word or all of them, but for an i, y or e in place of another
// of these: dying and die, cry and cri, using and use.
func (b *beginnings) add(part string) {
	second, third := allBytes, allBytes
	if len(part) > 1 {
		second = alike(part[1])
	}
	if len(part) > 2 {
		third = alike(part[2])
	}
	first := part[0] & 31
	b.seconds[first] |= second
	for ; second != 0; second &= second - 1 {
		b.thirds[firstTwo(first, byte(bits.TrailingZeros32(second)))] |= third
	}
}

const allBytes uint32 = 1<<32 - 1

// alike are the bytes that a word may have for that of its stem.
func alike(b byte) uint32 {
	const vowels = 1<<('i'&31) | 1<<('y'&31) | 1<<('e'&31)
	if bit := uint32(1) << (b & 31); bit&vowels == 0 {
		return bit
	}
	return vowels
}

// three reports whether a word may begin with these bytes of ASCII, or is one that
// they are behind the end of.
func (b *beginnings) three(first, second, third byte) bool {
	return b.mayGoOn(firstTwo(first, second), third)
}

// firstTwo is where the possible thirds behind two bytes are.
func firstTwo(first, second byte) uint32 { return uint32(first&31)<<5 | uint32(second&31) }

// mayGoOn is three, for bytes of which firstTwo knows the first two.
func (b *beginnings) mayGoOn(two uint32, third byte) bool {
	return b.thirds[two&(1<<10-1)]>>(third&31)&1 != 0
}

// match reports whether a word that begins with a byte of ASCII, followed by
// text that is not folded, may begin so. What is not ASCII may fold to anything.
func (b *beginnings) match(first byte, rest string) bool {
	switch {
	case len(rest) == 0:
		return b.three(first, 0, 0)
	case rest[0] >= utf8.RuneSelf:
		return b.seconds[first&31] != 0
	case len(rest) == 1:
		return b.three(first, rest[0], 0)
	case rest[1] >= utf8.RuneSelf:
		return b.thirds[firstTwo(first, rest[0])] != 0
	}
	return b.three(first, rest[0], rest[1])
}
