//go:build !purego

package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasAVX2 says whether sketches are read by the kernel in assembly.
var hasAVX2 = cpu.X86.HasAVX2

// dotsInt8 fills out; query is whole blocks, and rows is [len(out)*len(query)]int8.
// Meanwhile it prefetches next, which is as long as rows or empty.
func dotsInt8(query []int16, rows, next []int8, out []int32) {
	if !accelerated || !hasAVX2 || len(query) == 0 {
		dotsInt8Portable(query, rows, out)
		return
	}
	if len(next) == 0 {
		next = rows
	}
	n := len(out)
	at := [2]*int8{unsafe.SliceData(rows), unsafe.SliceData(next)}
	dotsInt8AVX2(query, at, out, n/4, n/4)
	switch {
	case n < 4:
		dotsInt8AVX2(query, at, out, n, 0)
	case n%4 > 0: // the last four again, of which some were done
		last := (n - 4) * len(query)
		dotsInt8AVX2(query, [2]*int8{&rows[last], &next[last]}, out[n-4:], 1, 1)
	}
}

// dotsInt8AVX2 walks over the rows at the first place and out as dotsAVX does, and
// over the second place in step, to prefetch what is there.
//
//go:noescape
func dotsInt8AVX2(query []int16, at [2]*int8, out []int32, steps, apart int)
