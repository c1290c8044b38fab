//go:build !linux

package local

import (
	"os"
	"syscall"
)

// endsWithParent is Linux's alone: elsewhere a killed gateway leaves its model behind.
func endsWithParent() *syscall.SysProcAttr { return nil }

func askToEnd(process *os.Process) error { return process.Kill() }

func endGroup(int) {}
