package embedded

import (
	"runtime"
	"sync"
)

// parallelRows is how many rows are worth a second processor when each costs
// little, and as many as that when each is read from afar.
const (
	parallelRows = 2048
	parallelFar  = 256
)

// partsOf divides rows among the processors, in parts of at least so many.
func partsOf(rows []uint32, least int) [][]uint32 {
	parts := make([][]uint32, max(1, min(runtime.GOMAXPROCS(0), len(rows)/least)))
	for i := range parts {
		parts[i] = rows[i*len(rows)/len(parts) : (i+1)*len(rows)/len(parts)]
	}
	return parts
}

// eachPart works on all parts at the same time.
func eachPart(parts [][]uint32, work func(part int, rows []uint32)) {
	var others sync.WaitGroup
	for i, part := range parts[1:] {
		others.Go(func() { work(i+1, part) })
	}
	work(0, parts[0])
	others.Wait()
}
