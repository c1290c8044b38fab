package vector

import (
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// endOfMemory has n elements before a page that cannot be read.
func endOfMemory(t *testing.T, n int) []float32 {
	t.Helper()
	page := syscall.Getpagesize()
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

// Rows and query end where readable memory ends: reading on would be a fault.
func TestDotsReadsNothingBeyondItsRows(t *testing.T) {
	query, rows, out := endOfMemory(t, 100), endOfMemory(t, 900), endOfMemory(t, 9)
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
				scattered := slices.Repeat([][]float32{rows[900-dim:]}, n)
				if DotsOf(query[100-dim:], scattered, out[9-n:9-n/2]); out[8] != float32(dim) || out[9-n] != float32(dim) {
					t.Fatalf("dim %d, %d rows: %g", dim, n, out[9-n:])
				}
			}
		}
	})
}

// The same of the rows of a sketch, which are whole blocks.
func TestDotsInt8ReadsNothingBeyondItsRows(t *testing.T) {
	memory := func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(endOfMemory(t, n))) }
	query := unsafe.Slice((*int16)(memory(3*block/2)), 3*block)
	rows := unsafe.Slice((*int8)(memory(9*3*block/4)), 9*3*block)
	out := unsafe.Slice((*int32)(memory(9)), 9)
	for i := range rows {
		rows[i] = 2
	}
	for i := range query {
		query[i] = 3
	}
	eachKernel(t, func(t *testing.T) {
		for blocks := 1; blocks <= 3; blocks++ {
			stride := blocks * block
			for n := 1; n <= 9; n++ {
				clear(out)
				last := rows[9*3*block-n*stride:]
				dotsInt8(query[3*block-stride:], last, last, out[9-n:])
				if want := slices.Repeat([]int32{int32(6 * stride)}, n); !slices.Equal(out[9-n:], want) {
					t.Fatalf("%d blocks, %d rows: %d", blocks, n, out[9-n:])
				}
			}
		}
	})
}
