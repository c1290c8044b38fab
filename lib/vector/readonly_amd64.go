//go:build !purego

package vector

// sumAVX reads four quarters of rows in step and sums them, whole blocks only: the
// fastest that one thread can read memory, by which benchmarks measure Dots.
//
//go:noescape
func sumAVX(rows []float32, quarter int) float32
