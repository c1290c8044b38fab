//go:build !race

package ingest

import (
	"runtime"
	"testing"
)

// TestMemoryDoesNotGrowWithTheInput, of 100,000 lines of 5 kB. With the race detector it
// would take minutes.
func TestMemoryDoesNotGrowWithTheInput(t *testing.T) {
	const total = 100_000
	fake := newFakeEngine()
	fake.discard = true
	heap := map[int]uint64{}
	input := &generator{size: 5000, lines: total, at: func(line int) {
		if line != total/10 && line != total*9/10 {
			return
		}
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		heap[line] = stats.HeapInuse
	}}
	summary, err := newPipeline(fake, nil, Options{}).Stream(ctx, acme, Source{KB: keywords, Lines: input},
		func(Result) error { return nil })
	if err != nil || summary.Created != total {
		t.Fatalf("%+v, %v; want no error and summary.Created total", summary, err)
	}
	early, late := heap[total/10], heap[total*9/10]
	t.Logf("%d MB read; heap %d MB at 10 %%, %d MB at 90 %%", summary.Bytes>>20, early>>20, late>>20)
	// Each stage holds a batch of 256 lines or 4 MiB at most, decoded once.
	if late > early+16<<20 {
		t.Errorf("the heap grew from %d MB to %d MB", early>>20, late>>20)
	}
}
