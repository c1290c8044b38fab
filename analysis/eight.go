package analysis

import "unicode/utf8"

// eight are the bytes of a text from i on, the first one lowest: one load.
func eight(text string, i int) uint64 {
	s := text[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// areIdeographs reports whether the six highest of eight bytes are two ideographs.
func areIdeographs(two uint64) bool {
	// The first two bytes of the first ideograph, and how many such pairs there are up to the last.
	const first, more = 0xe4b8, 0xe9bf - 0xe4b8
	return two&0xf0c0c0f0c0c00000 == 0xe08080e080800000 &&
		uint16(two>>48)-first <= more && uint16(two>>24)-first <= more
}

// decode is utf8.DecodeRuneInString at byte i, faster for most runes of three bytes.
func decode(text string, i int) (r rune, size int) {
	if i+3 <= len(text) {
		s := text[i : i+3]
		second, third := s[1]^0x80, s[2]^0x80
		if s[0]&0xf0 == 0xe0 && firstOfThree>>(s[0]&0xf)&1 != 0 && second|third <= 0x3f {
			return rune(s[0]&0xf)<<12 | rune(second)<<6 | rune(third), 3
		}
	}
	return utf8.DecodeRuneInString(text[i:])
}

// firstOfThree has the bits of the first bytes, from 0xe0 on, behind which any other two make
// a rune.
const firstOfThree = 0b1101_1111_1111_1110
