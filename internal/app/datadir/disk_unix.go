//go:build unix

package datadir

import "syscall"

// FreeSpace returns the bytes that a user may still write below a folder, and the size of the disk.
func FreeSpace(folder string) (free, size uint64, err error) {
	var s syscall.Statfs_t
	err = syscall.Statfs(folder, &s)
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), err //nolint:gosec // > 0
}

// Writable reports whether this user may write in a folder.
func Writable(folder string) bool { return syscall.Access(folder, 7) == nil }
