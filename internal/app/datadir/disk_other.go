//go:build !unix

package datadir

import "errors"

func FreeSpace(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }

func Writable(string) bool { return true }
