//go:build !amd64 || purego

package vector

// accelerated says whether the kernel in assembly is used: here there is none.
var accelerated = false

func dots(query, rows, out []float32) { dotsPortable(query, rows, out) }
