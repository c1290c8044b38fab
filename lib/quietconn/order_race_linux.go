//go:build race

package quietconn

import "syscall"

// Package syscall tells the race detector that what is read was written before, as both
// ends may be in one process. Nothing passes through it here, so calls of it do that move
// no bytes.

func beforeWriting(fd uintptr) { _, _ = syscall.Write(int(fd), nil) }

func afterReading(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }
