package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// lockFile in the data directory belongs to the one process that uses it, and
// tells others where that one serves. A process that ends, however it ends,
// leaves no lock behind.
const lockFile = "gateway.lock"

// dataLock is held as long as the data directory is in use here.
type dataLock struct{ file *os.File }

// errHeld says that another process holds the lock.
var errHeld = errors.New("held by another process")

// lockData takes the data directory. When another process has it, the error is
// errHeld and url is where that one serves, empty when it does not say.
func lockData(dir string) (held *dataLock, url string, err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be made", dir)
	}
	file, err := os.OpenFile(filepath.Join(filepath.Clean(dir), lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be used", dir)
	}
	taken, err := tryLock(file)
	if err == nil && taken {
		held := &dataLock{file: file}
		if err = held.announce(""); err == nil {
			return held, "", nil
		}
	}
	if err == nil {
		url, err = announced(file)
	}
	if err == nil {
		err = errHeld
	}
	return nil, url, errors.Join(err, file.Close())
}

func announced(file *os.File) (string, error) {
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	return strings.TrimSpace(string(text)), err
}

// announce tells others where this process serves.
func (l *dataLock) announce(url string) error {
	if err := l.file.Truncate(0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	if _, err := l.file.WriteAt([]byte(url), 0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	return nil
}

// release gives the data directory up.
func (l *dataLock) release() error { return l.file.Close() }

const (
	askLockAgain = 50 * time.Millisecond
	waitForLock  = 30 * time.Second
)

// lockOrFind takes the data directory, or finds the gateway that serves it. One
// that has it but does not serve is a command that will be over soon.
func lockOrFind(ctx context.Context, dir string) (*dataLock, string, error) {
	ctx, cancel := context.WithTimeout(ctx, waitForLock)
	defer cancel()
	for {
		held, url, err := lockData(dir)
		if held != nil || url != "" {
			return held, url, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, "", err
		}
		select {
		case <-time.After(askLockAgain):
		case <-ctx.Done():
			return nil, "", inUse(dir)
		}
	}
}

func inUse(dir string) error {
	return fault.New(fault.Conflict, "another process uses the data directory %s", dir)
}
