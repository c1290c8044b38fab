//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// hasAVX2 says whether sketches are read by the kernel in assembly.
var hasAVX2 = cpu.X86.HasAVX2

// dotsInt8 fills out; query is whole blocks, and rows is [len(out)*len(query)]int8.
func dotsInt8(query []int16, rows []int8, out []int32) {
	if !accelerated || !hasAVX2 || len(query) == 0 {
		dotsInt8Portable(query, rows, out)
		return
	}
	n := len(out)
	dotsInt8AVX2(query, rows, out, n/4, n/4)
	switch {
	case n < 4:
		dotsInt8AVX2(query, rows, out, n, 0)
	case n%4 > 0: // the last four again, of which some were done
		dotsInt8AVX2(query, rows[(n-4)*len(query):], out[n-4:], 1, 1)
	}
}

// dotsInt8AVX2 walks over rows and out as dotsAVX does.
//
//go:noescape
func dotsInt8AVX2(query []int16, rows []int8, out []int32, steps, apart int)
