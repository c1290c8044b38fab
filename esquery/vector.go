package esquery

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/lib/smile"
)

const (
	usualNumber = len("-0.0123456789,")
	leastFixed  = 1e-6 // smaller numbers would begin with many zeros
)

// vector writes a vector. Its numbers have nine significant digits, which tell any two
// float32 apart and are found several times faster than the fewest that do.
func (w *writer) vector(name string, v []float32) {
	if w.smile {
		written, err := smile.AppendVector(w.member(name).buf, v)
		if w.buf = written; err != nil {
			w.fail(err)
		}
		return
	}
	w.member(name).put('[')
	w.buf = slices.Grow(w.buf, len(v)*usualNumber)
	for i, x := range v {
		if i > 0 {
			w.put(',')
		}
		if size := math.Abs(float64(x)); size >= leastFixed && size < 1 {
			w.buf = appendFixed(w.buf, x < 0, size)
		} else {
			w.number(float64(x), 32)
		}
	}
	w.put(']')
}

// appendFixed appends a number of leastFixed <= size < 1, as in vectors of length 1.
func appendFixed(buf []byte, negative bool, size float64) []byte {
	if negative {
		buf = append(buf, '-')
	}
	buf = append(buf, '0', '.')
	scaled := size * 1e9
	for ; scaled < 1e8; scaled *= 10 {
		buf = append(buf, '0')
	}
	n := uint64(scaled + 0.5)
	buf = append(buf, byte('0'+n/1e8))
	return binary.LittleEndian.AppendUint64(buf, eightDigits(n%1e8))
}

// eightDigits returns the decimal digits of n < 1e8 in ASCII, the first in the lowest byte.
// n is split into two numbers of four digits, these into four of two and eight of one, by
// arithmetic on all parts at once.
func eightDigits(n uint64) uint64 {
	fours := n/1e4 | n%1e4<<32
	hundreds := fours * 10486 >> 20 & 0x7f_0000007f // x·10486 >> 20 is x/100 below 10,000
	twos := hundreds | (fours-100*hundreds)<<16
	tens := twos * 103 >> 10 & 0x000f_000f_000f_000f // x·103 >> 10 is x/10 below 100
	return tens | (twos-10*tens)<<8 | 0x30303030_30303030
}
