package esquery

import (
	"math"
	"slices"
	"strconv"
)

// vector writes a vector, its numbers with nine significant digits: enough to tell
// any two float32 apart, and found several times sooner than the fewest that do.
func (w *writer) vector(name string, v []float32) {
	w.buf = slices.Grow(w.buf, len(v)*usualNumber)
	list(w, name, v, func(w *writer, x float32) {
		if size := math.Abs(float64(x)); size >= leastFixed && size < 1 {
			w.fixed(x < 0, size)
		} else {
			w.number(float64(x), 32)
		}
	})
}

const (
	usualNumber = len("-0.0123456789,")
	leastFixed  = 1e-6 // what is less would begin with many zeros
)

// fixed writes a number of the size that those of a vector of length 1 have.
func (w *writer) fixed(negative bool, size float64) {
	if negative {
		w.raw("-")
	}
	zeros, digits := 0, size*1e9
	for ; digits < 1e8; digits *= 10 {
		zeros++
	}
	w.raw("0.000000"[:len("0.")+zeros])
	w.buf = strconv.AppendUint(w.buf, uint64(digits+0.5), 10)
}
