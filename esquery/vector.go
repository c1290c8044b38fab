package esquery

import (
	"math"
	"slices"
)

const (
	usualNumber = len("-0.0123456789,")
	leastFixed  = 1e-6 // what is less would begin with many zeros
)

// vector writes a vector, its numbers with nine significant digits: enough to tell
// any two float32 apart, and found several times sooner than the fewest that do.
func (w *writer) vector(name string, v []float32) {
	w.member(name).raw("[")
	w.buf = slices.Grow(w.buf, len(v)*usualNumber)
	for _, x := range v {
		w.value()
		if size := math.Abs(float64(x)); size >= leastFixed && size < 1 {
			w.buf = appendFixed(w.buf, x < 0, size)
		} else {
			w.number(float64(x), 32)
		}
	}
	w.raw("]")
}

// appendFixed writes a number of the size that those of a vector of length 1 have.
func appendFixed(buf []byte, negative bool, size float64) []byte {
	if negative {
		buf = append(buf, '-')
	}
	buf = append(buf, '0', '.')
	scaled := size * 1e9
	for ; scaled < 1e8; scaled *= 10 {
		buf = append(buf, '0')
	}
	buf = append(buf, "123456789"...)
	digits := buf[len(buf)-9:]
	for n, i := uint32(scaled+0.5), 8; i >= 0; i-- {
		digits[i], n = byte('0'+n%10), n/10
	}
	return buf
}
