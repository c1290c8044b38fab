package smile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendText appends a string. What is not UTF-8 in it becomes U+FFFD.
func AppendText(to []byte, s string) []byte {
	if isASCII(s) {
		return appendString(to, s, shortASCII, longASCII)
	}
	return appendString(to, valid(s), shortText, longText)
}

// AppendName appends the name of a member.
func AppendName(to []byte, s string) []byte {
	if isASCII(s) {
		return appendString(to, s, asciiName, longName)
	}
	return appendString(to, valid(s), textName, longName)
}

func appendString(to []byte, s string, short shorts, long byte) []byte {
	switch n := len(s); {
	case n == 0:
		return append(to, emptyText)
	case n <= short.most:
		return append(append(to, short.token+byte(n-short.least)), s...)
	default:
		return append(append(append(to, long), s...), textEnd)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// valid replaces every byte that is not UTF-8 by U+FFFD.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// AppendInteger appends a whole number: seven bits a byte, and six in the last, whose
// highest bit is set.
func AppendInteger(to []byte, n int64) []byte {
	zigzag := uint64(n<<1) ^ uint64(n>>63)
	var bytes [10]byte
	at := len(bytes) - 1
	bytes[at] = 0x80 | byte(zigzag&0x3F)
	for rest := zigzag >> 6; rest > 0; rest >>= 7 {
		at--
		bytes[at] = byte(rest & 0x7F)
	}
	token := byte(int64s)
	if n == int64(int32(n)) {
		token = int32s
	}
	return append(append(to, token), bytes[at:]...)
}

// AppendNumber appends a finite number of the type that it has in JSON: a field of
// words has the term 2 and not 2.0.
func AppendNumber(to []byte, f float64) []byte {
	whole := f == math.Trunc(f)
	switch {
	case whole && math.Abs(f) < 1<<63:
		return AppendInteger(to, int64(f))
	case whole && math.Abs(f) < 1e21: // of so many digits JSON has them all
		return AppendText(to, strconv.FormatFloat(f, 'f', -1, 64))
	}
	to = append(to, float64s)
	bits := math.Float64bits(f)
	for shift := 63; shift >= 0; shift -= 7 {
		to = append(to, byte(bits>>shift)&0x7F)
	}
	return to
}

const float32Size = 1 + 5 // seven bits a byte behind the token

// infinite are the bits that all are set in what is no number of JSON.
const infinite = 0x7F800000

// AppendVector appends an array of numbers, each in six bytes.
func AppendVector(to []byte, v []float32) ([]byte, error) {
	to = slices.Grow(append(to, Array), len(v)*float32Size+1)
	for _, x := range v {
		bits := math.Float32bits(x)
		if bits&infinite == infinite {
			return to, fmt.Errorf("JSON has no number %g", x)
		}
		to = append(to, float32s,
			byte(bits>>28), byte(bits>>21)&0x7F, byte(bits>>14)&0x7F, byte(bits>>7)&0x7F, byte(bits)&0x7F)
	}
	return append(to, ArrayEnd), nil
}
