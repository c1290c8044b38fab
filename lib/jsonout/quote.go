package jsonout

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// appendQuoted writes a string of JSON: what JSON forbids and the two line
// separators of JavaScript are escaped, what is not UTF-8 is replaced. Texts are
// searched for such bytes eight at a time.
func appendQuoted(to []byte, text string) []byte {
	to = append(to, '"')
	plain := asciiBytes(text)
	for plain < len(text) {
		if more := plainBytes(text[plain:]); more > 0 {
			plain += more
			continue
		}
		to = append(to, text[:plain]...)
		r, size := utf8.DecodeRuneInString(text[plain:])
		to = appendEscape(to, r)
		text = text[plain+size:]
		plain = asciiBytes(text)
	}
	to = append(to, text...)
	return append(to, '"')
}

// appendEscape escapes a character; utf8.RuneError stands for invalid UTF-8.
func appendEscape(to []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(to, '\\', byte(r))
	case '\n':
		return append(to, `\n`...)
	case '\t':
		return append(to, `\t`...)
	case '\r':
		return append(to, `\r`...)
	case '\b':
		return append(to, `\b`...)
	case '\f':
		return append(to, `\f`...)
	}
	return append(to, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// plainBytes counts the bytes in front of the first one that needs an escape.
func plainBytes(text string) int {
	i := 0
	for i < len(text) {
		switch {
		case text[i] < utf8.RuneSelf:
			n := asciiBytes(text[i:])
			if n == 0 {
				return i
			}
			i += n
		case isWide(text[i:]):
			for i += 3; len(text)-i >= 8 && areTwoWide(eightBytes(text, i)); i += 6 {
			}
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
				return i
			}
			i += size
		}
	}
	return i
}

// wideLeads has a bit per lower half of the first byte of a three-byte character:
// set where any two continuation bytes make valid UTF-8 that needs no escape. Not
// set are E0 (overlong forms), E2 (line separators) and ED (surrogates).
const wideLeads = 0b11011111_11111010

// isWide reports whether a text begins with a three-byte character that needs no
// escape, as CJK characters and their punctuation.
func isWide(text string) bool {
	return len(text) >= 3 && text[0]>>4 == 0xE && wideLeads>>(text[0]&0xF)&1 != 0 &&
		text[1]&0xC0 == 0x80 && text[2]&0xC0 == 0x80
}

// areTwoWide is isWide of two characters, the lower six of eight bytes.
func areTwoWide(eight uint64) bool {
	const kinds, wide = 0xC0C0F0_C0C0F0, 0x8080E0_8080E0
	return eight&kinds == wide && wideLeads>>(eight&0xF)&(wideLeads>>(eight>>24&0xF))&1 != 0
}

// asciiBytes counts the bytes in front of the first one that is not ASCII or needs
// an escape.
func asciiBytes(text string) int {
	i, last := 0, len(text)-8
	if last < 0 {
		for i < len(text) && isPlain(text[i]) {
			i++
		}
		return i
	}
	for ; i < last; i += 8 {
		if marks := markSpecial(eightBytes(text, i)); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	if marks := markSpecial(eightBytes(text, last)); marks != 0 {
		return last + bits.TrailingZeros64(marks)/8
	}
	return len(text)
}

func isPlain(b byte) bool { return ' ' <= b && b != '"' && b != '\\' && b < utf8.RuneSelf }

// eightBytes loads the bytes of a text from i on, the first one lowest.
func eightBytes(text string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(text[i:])) }

// markSpecial sets the highest bit of each byte that is not ASCII or needs an escape.
// Only the lowest bit set is certain: subtracting borrows from the bytes above.
func markSpecial(eight uint64) uint64 {
	const ones = 0x0101010101010101
	return (eight | (eight - ' '*ones) | ((eight ^ '"'*ones) - ones) | ((eight ^ '\\'*ones) - ones)) & (0x80 * ones)
}
