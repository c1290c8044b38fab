package esquery

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// SMILE as Elasticsearch reads it, without names or strings by their number.
//
// https://github.com/FasterXML/smile-format-specification
const (
	smileHeader  = ":)\n\x00" // in front of every value that stands alone
	smileLineEnd = 0xFF       // no byte of a value

	smileEmpty     = 0x20
	smileFalse     = 0x22
	smileTrue      = 0x23
	smileInt32     = 0x24
	smileInt64     = 0x25
	smileFloat32   = 0x28
	smileFloat64   = 0x29
	smileLongName  = 0x34
	smileLongASCII = 0xE0
	smileLongText  = 0xE4
	smileList      = 0xF8
	smileListEnd   = 0xF9
	smileObject    = 0xFA
	smileObjectEnd = 0xFB
	smileTextEnd   = 0xFC // of a long one
)

// smileShort are the strings whose token tells their length, from that of the shortest.
type smileShort struct {
	token       byte
	least, most int // bytes
}

var (
	shortASCII = smileShort{token: 0x40, least: 1, most: 64}
	shortText  = smileShort{token: 0x80, least: 2, most: 65}
	asciiName  = smileShort{token: 0x80, least: 1, most: 64}
	textName   = smileShort{token: 0xC0, least: 2, most: 57}
)

func (w *writer) smileText(s string) {
	if isASCII(s) {
		w.smileString(s, shortASCII, smileLongASCII)
	} else {
		w.smileString(valid(s), shortText, smileLongText)
	}
}

func (w *writer) smileName(s string) {
	if isASCII(s) {
		w.smileString(s, asciiName, smileLongName)
	} else {
		w.smileString(valid(s), textName, smileLongName)
	}
}

func (w *writer) smileString(s string, short smileShort, long byte) {
	switch n := len(s); {
	case n == 0:
		w.sign(smileEmpty)
	case n <= short.most:
		w.sign(short.token + byte(n-short.least))
		w.raw(s)
	default:
		w.sign(long)
		w.raw(s)
		w.sign(smileTextEnd)
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

// smileInteger writes seven bits a byte, and six in the last, whose highest bit is set.
func (w *writer) smileInteger(n int64) {
	zigzag := uint64(n<<1) ^ uint64(n>>63)
	var bytes [10]byte
	at := len(bytes) - 1
	bytes[at] = 0x80 | byte(zigzag&0x3F)
	for rest := zigzag >> 6; rest > 0; rest >>= 7 {
		at--
		bytes[at] = byte(rest & 0x7F)
	}
	if n == int64(int32(n)) {
		w.sign(smileInt32)
	} else {
		w.sign(smileInt64)
	}
	w.buf = append(w.buf, bytes[at:]...)
}

// smileNumber writes a number of the type that it has in JSON: a field of words has
// the term 2 and not 2.0.
func (w *writer) smileNumber(f float64) {
	whole := f == math.Trunc(f)
	switch {
	case whole && math.Abs(f) < 1<<63:
		w.smileInteger(int64(f))
	case whole && math.Abs(f) < 1e21: // of so many digits JSON has them all
		w.smileText(strconv.FormatFloat(f, 'f', -1, 64))
	default:
		w.sign(smileFloat64)
		bits := math.Float64bits(f)
		for shift := 63; shift >= 0; shift -= 7 {
			w.sign(byte(bits>>shift) & 0x7F)
		}
	}
}

// smileVector writes each number in six bytes.
func (w *writer) smileVector(name string, v []float32) {
	w.smileName(name)
	w.sign(smileList)
	from := len(w.buf)
	w.buf = slices.Grow(w.buf, len(v)*smileFloatSize)[:from+len(v)*smileFloatSize]
	to := w.buf[from:]
	for _, x := range v {
		bits := math.Float32bits(x)
		if bits&infinite == infinite {
			w.fail(fmt.Errorf("JSON has no number %g", x))
		}
		number := (*[smileFloatSize]byte)(to)
		number[0] = smileFloat32
		number[1] = byte(bits >> 28)
		number[2] = byte(bits>>21) & 0x7F
		number[3] = byte(bits>>14) & 0x7F
		number[4] = byte(bits>>7) & 0x7F
		number[5] = byte(bits) & 0x7F
		to = to[smileFloatSize:]
	}
	w.sign(smileListEnd)
}

const smileFloatSize = 1 + 5 // seven bits a byte behind the token

// infinite are the bits that all are set in what is no number of JSON.
const infinite = 0x7F800000
