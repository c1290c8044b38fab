//go:build !purego

package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// accelerated says whether the kernels in assembly are used; tests switch it off.
var accelerated = cpu.X86.HasAVX

// wide says whether the scan takes 16 elements at a time, which gives the same sums;
// tests switch it off.
var wide = cpu.X86.HasAVX512F

// dots fills out; rows is [len(out)*len(query)]float32 exactly, and dim is not 0.
func dots(query, rows, out []float32) {
	if !accelerated {
		dotsPortable(query, rows, out)
		return
	}
	n := len(out)
	dotsAVX(query, rows, out, n/4, n/4)
	switch {
	case n < 4:
		dotsAVX(query, rows, out, n, 0)
	case n%4 > 0: // the last four again, of which some were done
		dotsAVX(query, rows[(n-4)*len(query):], out[n-4:], 1, 1)
	}
}

// dotsAVX walks over four runs of rows in step, because memory is read faster from
// four places than from one: for i < steps it fills out[i], out[i+apart],
// out[i+2*apart] and out[i+3*apart]. With apart 0 all four are the same row. It
// trusts its arguments, and reads only the first pointer of rows and of out.
//
//go:noescape
func dotsAVX(query, rows, out []float32, steps, apart int)

// dotsOf fills out, as long as rows. It reads four at a time in step, and prefetches
// the next four.
func dotsOf(query []float32, rows [][]float32, out []float32) {
	if !accelerated || len(rows) == 0 {
		dotsOfPortable(query, rows, out)
		return
	}
	four := func(from int) (at [4]*float32) {
		for i := range at {
			at[i] = unsafe.SliceData(rows[min(from+i, len(rows)-1)][:len(query)])
		}
		return at
	}
	following := four(0)
	var products [4]float32
	for done := 0; done < len(out); {
		now := following
		following = four(done + 4)
		dotsOfAVX(query, &now, &following, &products)
		done += copy(out[done:], products[:])
	}
}

// dotsOfAVX fills out with the products of four rows. The rows that follow must be
// readable memory, or absent.
//
//go:noescape
func dotsOfAVX(query []float32, rows, following *[4]*float32, out *[4]float32)
