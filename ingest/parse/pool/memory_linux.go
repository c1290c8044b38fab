package pool

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// slack is the address space of a parser beyond its memory limit: thread stacks and reserved, unused pages.
const slack = 512 << 20

// limitMemory lets the kernel refuse this process memory, in case it takes it between two looks
// of its parent. What the program has at its start comes on top. The limit is one of the address
// space: that of data (RLIMIT_DATA) does not count what replaces a reservation, as Go's heap does.
func limitMemory(bytes uint64) error {
	pages, err := statm(os.Getpid())
	if err != nil {
		return err
	}
	bytes += pages.size*uint64(os.Getpagesize()) + slack
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

// memoryOf returns what a process holds in memory, in bytes, without the pages of its program;
// 0 if it is not known.
func memoryOf(pid int) uint64 {
	pages, err := statm(pid)
	if err != nil || pages.shared > pages.resident {
		return 0
	}
	return (pages.resident - pages.shared) * uint64(os.Getpagesize())
}

// pagesOf counts a process's pages: of its address space, resident, and shared.
type pagesOf struct{ size, resident, shared uint64 }

func statm(pid int) (p pagesOf, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return p, err
	}
	_, err = fmt.Fscan(bytes.NewReader(text), &p.size, &p.resident, &p.shared)
	return p, err
}
