package search

import (
	"math/bits"
	"unicode/utf8"
)

// appendQuoted writes a text as encoding/json does when it leaves HTML as it is: what
// JSON forbids and line separators are escaped, what is no UTF-8 is replaced.
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

// appendEscape writes a character that must not stand in JSON as it is; for what
// is no UTF-8, utf8.RuneError.
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

// plainBytes is how many bytes at the beginning of a text stand in JSON as they are.
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
		case isThree(text[i:]):
			for i += 3; len(text)-i >= 8 && areTwoThrees(eight(text, i)); i += 6 {
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

// plainLeads has a bit for each first byte of a character of three bytes, by its lower
// half, behind which any two others are right: none of a surrogate, a separator or what
// could be written shorter.
const plainLeads = 0b11011111_11111010

// isThree reports whether a text begins with a character of three bytes, for most of
// them: ideographs and what is written among them.
func isThree(text string) bool {
	return len(text) >= 3 && text[0]>>4 == 0xE && plainLeads>>(text[0]&0xF)&1 != 0 &&
		text[1]&0xC0 == 0x80 && text[2]&0xC0 == 0x80
}

// areTwoThrees is isThree of two characters, which are six of eight bytes.
func areTwoThrees(eight uint64) bool {
	const kinds, threes = 0xC0C0F0_C0C0F0, 0x8080E0_8080E0
	return eight&kinds == threes && plainLeads>>(eight&0xF)&(plainLeads>>(eight>>24&0xF))&1 != 0
}

// asciiBytes is how many bytes at the beginning of a text are ASCII and stand in JSON
// as they are.
func asciiBytes(text string) int {
	i, last := 0, len(text)-8
	if last < 0 {
		for i < len(text) && isPlain(text[i]) {
			i++
		}
		return i
	}
	for ; i < last; i += 8 {
		if marks := marked(eight(text, i)); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	if marks := marked(eight(text, last)); marks != 0 {
		return last + bits.TrailingZeros64(marks)/8
	}
	return len(text)
}

func isPlain(b byte) bool { return ' ' <= b && b != '"' && b != '\\' && b < utf8.RuneSelf }

// eight are the bytes of a text from i on, the first one lowest: one load.
func eight(text string, i int) uint64 {
	s := text[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// marked sets the highest bit of the bytes that are not ASCII or not themselves in
// JSON. Only the lowest one that it sets is sure: subtracting borrows from the next.
func marked(word uint64) uint64 {
	const ones = 0x0101010101010101
	return (word | (word - ' '*ones) | ((word ^ '"'*ones) - ones) | ((word ^ '\\'*ones) - ones)) & (0x80 * ones)
}
