package vector

import (
	"syscall"
	"testing"
	"unsafe"
)

// Rows and query end where readable memory ends: reading on would be a fault.
func TestDotsReadsNothingBeyondItsRows(t *testing.T) {
	page := syscall.Getpagesize()
	// endOfMemory has n elements before a page that cannot be read.
	endOfMemory := func(n int) []float32 {
		memory, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Munmap(memory) })
		if err := syscall.Mprotect(memory[page:], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		readable := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(memory))), page/4)
		return readable[page/4-n:]
	}
	query, rows, out := endOfMemory(100), endOfMemory(900), endOfMemory(9)
	for i := range rows {
		rows[i] = 1
	}
	for i := range query {
		query[i] = 1
	}
	eachKernel(t, func(t *testing.T) {
		for dim := 1; dim <= 100; dim++ {
			for n := 1; n <= 9; n++ {
				Dots(query[100-dim:], rows[900-n*dim:], out[9-n:])
				if out[8] != float32(dim) {
					t.Fatalf("dim %d, %d rows: %g", dim, n, out[8])
				}
			}
		}
	})
}
