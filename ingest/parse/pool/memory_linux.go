package pool

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

const rlimitData = 2 // RLIMIT_DATA, which package syscall lacks on some processors

// limitMemory lets the kernel refuse this process memory, in case it takes it between two looks
// of its parent. What the program has at its start comes on top.
func limitMemory(bytes uint64) error {
	bytes += 256 << 20
	return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

// memoryOf returns what a process holds in memory, in bytes, without the pages of its program;
// 0 if it is not known.
func memoryOf(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, resident, shared uint64
	if _, err := fmt.Fscan(bytes.NewReader(text), &size, &resident, &shared); err != nil || shared > resident {
		return 0
	}
	return (resident - shared) * uint64(os.Getpagesize())
}
