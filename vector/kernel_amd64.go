//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// accelerated says whether the kernel in assembly is used; tests switch it off.
var accelerated = cpu.X86.HasAVX

// dots fills out; rows is [len(out)*len(query)]float32 exactly, and dim is not 0.
func dots(query, rows, out []float32) {
	if !accelerated {
		dotsPortable(query, rows, out)
		return
	}
	quarter := len(out) / 4
	dotsAVX(query, rows, out, quarter, quarter)
	done := 4 * quarter
	dotsAVX(query, rows[done*len(query):], out[done:], len(out)-done, 0)
}

// dotsAVX walks over four runs of rows in step, because memory is read faster from
// four places than from one: for i < steps it fills out[i], out[i+apart],
// out[i+2*apart] and out[i+3*apart]. With apart 0 all four are the same row. It
// trusts its arguments, and reads only the first pointer of rows and of out.
//
//go:noescape
func dotsAVX(query, rows, out []float32, steps, apart int)
