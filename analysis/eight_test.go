package analysis

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyBytes draws texts of ASCII, ideographs, other runes and what is no UTF-8.
func anyBytes() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{"a", "Z", "9", "@", "[", "`", "{", "/", ":", " ", "款", "一", "\u9fff", "\u4dff", "\ua000", "，", "\ufffd"}),
		rapid.StringN(0, 3, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3), func(b []byte) string { return string(b) }),
	), 0, 12), func(all []string) (text string) {
		for _, s := range all {
			text += s
		}
		return text
	})
}

// TestEight: what is seen of eight bytes at once is what is seen of one rune after the other.
func TestEight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := anyBytes().Draw(rt, "text")
		for i := range len(text) {
			want, wantSize := utf8.DecodeRuneInString(text[i:])
			if r, size := decode(text, i); r != want || size != wantSize {
				rt.Fatalf("%q: %q of %d bytes at %d, want %q of %d", text, r, size, i, want, wantSize)
			}
			checkEight(rt, text, i)
		}
	})
}

func checkEight(t failer, text string, i int) {
	if i+8 > len(text) {
		return
	}
	swapped := uint64(0)
	for at := range 8 {
		swapped = swapped<<8 | uint64(text[i+at])
	}
	first, second := ideograph(text, i), ideograph(text, i+ideographBytes)
	if got := areIdeographs(swapped); got != (first != 0 && second != 0) {
		t.Fatalf("%q are two ideographs: %v", text[i:i+6], got)
	}
	var f firsts
	if f.set('款'); first != 0 && second != 0 && f.mayEither(swapped) != (f.may(first) || f.may(second)) {
		t.Fatalf("%q may be firsts: %v", text[i:i+6], f.mayEither(swapped))
	}
}
