//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file for this process, or reports false when another has it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
