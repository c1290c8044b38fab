//go:build !unix

package main

import "errors"

func freeSpace(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }

func writable(string) bool { return true }
