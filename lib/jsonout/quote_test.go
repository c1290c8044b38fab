package jsonout

import (
	"testing"
	"unicode/utf8"
)

// plainByRune is plainBytes, one character at a time.
func plainByRune(text string) int {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' {
			return i
		}
	}
	return len(text)
}

// TestPlainBytes tries every lead byte of three-byte characters, and bytes at the bounds of what may
// follow, alone and among others.
func TestPlainBytes(t *testing.T) {
	check := func(text string) {
		if got, want := plainBytes(text), plainByRune(text); got != want {
			t.Errorf("%d bytes of %q are plain, want %d", got, text, want)
		}
	}
	for first := 0xDF; first <= 0xFF; first++ {
		for second := 0x7E; second <= 0xC1; second++ {
			for third := 0x7E; third <= 0xC1; third++ {
				text := string([]byte{byte(first), byte(second), byte(third)})
				for _, around := range []string{text, "退款" + text + "退款", text + "退款款", "a" + text} {
					check(around)
				}
			}
		}
	}
}
