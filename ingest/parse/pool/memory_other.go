//go:build !linux

package pool

// limitMemory does nothing here: what holds is the limit of the garbage collector, and the time.
func limitMemory(uint64) error { return nil }

func memoryOf(int) uint64 { return 0 }
