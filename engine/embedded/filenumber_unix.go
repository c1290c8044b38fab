//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// fileNumber is what the file system calls a file, 0 where that is unknown. A copy has another.
func fileNumber(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
