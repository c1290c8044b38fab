//go:build unix

package datadir

import "syscall"

// KeepPrivate makes every file and folder of the process readable for its user alone, also
// those that libraries and child processes make.
func KeepPrivate() { syscall.Umask(0o077) }
