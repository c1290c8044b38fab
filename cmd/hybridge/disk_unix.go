//go:build unix

package main

import "syscall"

// freeSpace is how many bytes a user may still write below a folder, of how many.
func freeSpace(folder string) (free, size uint64, err error) {
	var s syscall.Statfs_t
	err = syscall.Statfs(folder, &s)
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), err //nolint:gosec // > 0
}

// writable reports whether this user may write in a folder.
func writable(folder string) bool { return syscall.Access(folder, 7) == nil }
