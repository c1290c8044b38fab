package embedded

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// The number of rows from which a second processor pays off: for adding up numbers in
// memory, and for estimating or scoring rows.
const (
	parallelNear = 16384
	parallelRows = 2048
)

// partsOf divides rows into parts of at least so many: some for each processor, so
// that one that joins late takes fewer.
func partsOf(rows []uint32, least int) [][]uint32 {
	return divided(rows, min(4*runtime.GOMAXPROCS(0), len(rows)/least))
}

func divided(rows []uint32, n int) [][]uint32 {
	parts := make([][]uint32, max(1, n))
	for i := range parts {
		parts[i] = rows[i*len(rows)/len(parts) : (i+1)*len(rows)/len(parts)]
	}
	return parts
}

// eachPart works on the parts on all processors.
func eachPart(parts [][]uint32, work func(part int, rows []uint32)) {
	var next atomic.Int64
	take := func() {
		for i := next.Add(1) - 1; int(i) < len(parts); i = next.Add(1) - 1 {
			work(int(i), parts[i])
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) - 1 {
		others.Go(take)
	}
	take()
	others.Wait()
}
