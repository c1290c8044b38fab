//go:build unix

package main

import "syscall"

// keepPrivate makes every file and folder of the process readable for its user alone, also
// those that libraries and child processes make.
func keepPrivate() { syscall.Umask(0o077) }
