//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// fileNumber returns the inode number of a file, 0 if unknown. A copy has a different one.
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
