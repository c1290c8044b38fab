//go:build !amd64 || purego

package vector

// accelerated and wide say which kernels in assembly are used: here there are none.
var accelerated, wide = false, false

func dots(query, rows, out []float32) { dotsPortable(query, rows, out) }

func dotsOf(query []float32, rows [][]float32, out []float32) { dotsOfPortable(query, rows, out) }

func dotsInt8(query []int16, rows, _ []int8, out []int32) { dotsInt8Portable(query, rows, out) }
